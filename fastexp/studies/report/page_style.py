"""How a report looks: on a screen, on a phone, on paper."""

from __future__ import annotations

CSS = """\
:root{color-scheme:light}
body{margin:0 auto;max-width:62rem;padding:1rem 1.2rem 4rem;background:#fff;color:#1b2a41;
font:16px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif}
h1{font-size:1.7rem;margin:.8rem 0 .2rem;overflow-wrap:anywhere}
h2{font-size:1.2rem;margin:2.4rem 0 .6rem;border-bottom:1px solid #d5dae1;padding-bottom:.2rem}
h3{font-size:1rem;margin:1.4rem 0 .3rem;overflow-wrap:anywhere}
p{margin:.5rem 0;max-width:46rem}
.question{font-size:1.15rem;color:#3d4a5c}
.verdict,.caution{border-left:4px solid #0072b2;background:#f3f6fa;padding:.5rem .8rem}
.bad{border-color:#b4430c;background:#fdf3ee}
.caution{border-color:#8a94a3}
.wide{overflow-x:auto}
table{border-collapse:collapse;font-size:.875rem;margin:.4rem 0;
font-variant-numeric:tabular-nums}
th,td{padding:.25rem .6rem;text-align:left;vertical-align:top;border-bottom:1px solid #e5e8ed}
th{border-bottom:2px solid #aab3c0;white-space:nowrap}
tbody th{border-bottom:1px solid #e5e8ed;font-weight:600}
.all td{white-space:nowrap}
.number{text-align:right;white-space:nowrap}
.disagrees td{background:#fdf3ee}
figure{margin:1.4rem 0 2rem}
figure img{display:block;min-width:min(100%,30rem);max-width:100%;height:auto}
figcaption,.note{font-size:.875rem;color:#3d4a5c;max-width:46rem}
dl{font-size:.875rem;display:grid;grid-template-columns:max-content 1fr;gap:.2rem 1rem}
dt{font-weight:600}dd{margin:0;overflow-wrap:anywhere}
pre{background:#f3f6fa;padding:.7rem .9rem;overflow-x:auto;font-size:.8125rem}
@media(max-width:40rem){body{padding:.5rem .8rem 3rem}dl{display:block}dd{margin:0 0 .4rem}}
@media print{body{max-width:none;padding:0;font-size:10pt}.wide,pre{overflow:visible}
pre{white-space:pre-wrap}figure,tr{break-inside:avoid}h2,h3{break-after:avoid}
@page{margin:12mm}.all table{font-size:5.5pt}.all th,.all td{padding:1pt 2pt}
.all th,.all td:not(.number){white-space:normal}}
"""
