"""Each page's cells start in a folder with copies of the files of docs/data."""

import os
import shutil

shutil.copytree(os.environ["FASTEXP_DOCS_DATA"], ".", dirs_exist_ok=True)
