"""Would a broken sampler be noticed? Each mutant of the source must fail a deterministic check.

A mutant is the package with one text replaced; a module of checks runs against it in the
interpreter, without the compiler, in a process of its own (`tests.support.mutating`).
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.mutating import Jury

ROOT = Path(__file__).parents[2]

MUTANTS = {
    "missing factor 2": ("privacy/rates.py", "else 2 * sensitivity", "else sensitivity"),
    "replace counts as monotone": ("privacy/rates.py", 'monotonic=neighbors == "add-remove"', "monotonic=True"),
    "envelope without slack": ("kernels/select/envelope.py", "return r + (r >> SLACK) + 3", "return r"),
    "one unit of slack": ("kernels/select/envelope.py", "+ (r >> SLACK) + 3", "+ 0"),
    "lower bound one too high": ("kernels/select/envelope.py", "(r >> SLACK) - 2", "(r >> SLACK) + 1"),
    "wrong side of the block search": ("kernels/select/envelope.py", "and low <= r0)", "and low < r0)"),
    "wrong side of the search": ("kernels/select/envelope.py", "        seen += uppers[i]\n        passed = seen <= rho", "        seen += uppers[i]\n        passed = seen < rho"),
    "groups before are forgotten": ("kernels/select/envelope.py", "group += 1 if passed else 0\n        before = seen if passed else before", "group += 1 if passed else 0"),
    "coin accepted at the bound": ("kernels/select/envelope.py", "if rho < lower(", "if rho <= lower("),
    "coin of the whole block": ("kernels/select/envelope.py", "    rho -= before\n", ""),
    "heights cut off too early": ("kernels/select/envelope.py", "DEEPEST = 60.0", "DEEPEST = 20.0"),
    "blocks' bounds without slack": ("kernels/select/envelope.py", "+ 5 * BLOCK", "- 5 * BLOCK"),
    "last block dropped": ("kernels/select/envelope.py", "range(count):\n        bound = blocks[", "range(max(count - 1, 1)):\n        bound = blocks["),
    "void rounds end in the last candidate": ("kernels/select/envelope.py", "    if index == part.size:  # between the block's sum and its bound\n        return AGAIN", "    if index == part.size:\n        index = part.size - 1"),
    "base ignored": ("kernels/bits/heights.py", "out[i] - log_base[i] if", "out[i] if"),
    "best over base 0 too": ("kernels/bits/heights.py", "key if counts else NONE", "key"),
    "biased bounded integer": ("kernels/bits/words.py", "counts = c1b > rest1", "counts = True or c1b > rest1"),
    "bounded integer refuses too much": ("kernels/bits/words.py", "p0 >= rest0)", "p0 > rest0)"),
    "signs of floats": ("kernels/bits/heights.py", "(sign & spread) | flip", "flip"),
    "unsigned as signed": ("kernels/bits/heights.py", "flip = NONE if kind == UNSIGNED else SIGN", "flip = SIGN"),
    "float32 heights": ("kernels/bits/heights.py", "out[i] = rate * (gap if gap >= tiny else 0.0)", "out[i] = np.float32(rate * (gap if gap >= tiny else 0.0))"),
    "alias cut off by one": ("kernels/select/alias.py", "cell < (entry >> bits)", "cell <= (entry >> bits)"),
    "alias looks up the draw ahead": ("kernels/select/alias.py", "to_column))\n        column = words[i] >> to_column", "to_column))\n        column = words[min(i + 1, last)] >> to_column"),
    "alias gives too much": ("kernels/select/alias.py", "rest -= capacity - weights[i]", "rest -= weights[i]"),
    "alias doubt too small": ("kernels/select/alias.py", ">> SLACK) + 7", ">> SLACK)"),
    "slow cells end early": ("reference/exact.py", "index = bisect_right(doubt_sums, cell)", "index = bisect_right(doubt_sums, cell + 1)"),
    "slow cells within": ("reference/exact.py", "inside = cell - int(doubt_sums[index - 1] if index else 0)", "inside = cell"),
    "accepts everything": ("reference/exact.py", "if least >= hi:\n            return False", "if least >= hi:\n            return True"),
    "coin forgotten": ("reference/exact.py", "least = rho + Fraction(coin, 1 << bits)", "least = Fraction(rho)"),
    "exact gap rounded": ("_selection/scan.py", "return best - bits_value(int(self.bits[index]), self.kind)", "return Fraction(float(best) - float(bits_value(int(self.bits[index]), self.kind)))"),
    "exact base forgotten": ("_selection/scan.py", "* self.weighting.base_of(index)", ""),
    "coins at the bound flip": ("kernels/select/flips.py", "BYTE(rest < low)", "BYTE(rest <= low)"),
    "first bytes at the bound flip": ("kernels/select/flips.py", "BYTE(drawn[i] < top)", "BYTE(drawn[i] <= top)"),
    "open coins tell the truth": ("kernels/select/flips.py", "(BYTE(drawn[i] == top) << ONE_BIT)", "BYTE(0)"),
    "second words exchanged": ("kernels/select/flips.py", "odd if i & ONE_WORD else even", "even if i & ONE_WORD else odd"),
    "second words are first bytes": ("kernels/select/flips.py", "HALF_FIRST = np.uint64(FIRST // 2)", "HALF_FIRST = np.uint64(0)"),
    "an open coin overlooked": ("kernels/select/flips.py", "range(8 * w, 8 * w + 8)", "range(8 * w, 8 * w + 7)"),
    "every block the same coins": ("kernels/select/flips.py", "np.uint64(first + start // FIRST)", "np.uint64(first)"),
    "coins alone end at their first digits": ("_selection/flips.py", "if lead == self.cut:", "if False:"),
    "coins alone with a ninth bit": ("_selection/flips.py", "(high & 255)", "(high & 511)"),
    "last words are second words": ("_selection/flips.py", "kernels.LATER)", "kernels.FIRST)"),
    "lies as for twice epsilon": ("mechanisms/randomized_response.py", "rate = Fraction(self.epsilon)", "rate = 2 * Fraction(self.epsilon)"),
    "lies as for half of epsilon": ("reference/exact.py", "exp_bounds(epsilon, precision)\n    one", "exp_bounds(epsilon / 2, precision)\n    one"),
    "last words forgotten": ("reference/exact.py", "lead << 64 | words()", "lead << 64"),
    "last words accept everything": ("reference/exact.py", "if lead << 8 >= hi:\n            return False", "if lead << 8 >= hi:\n            return True"),
    "a quarter of the square": ("privacy/guarantee.py", "** 2 / 8", "** 2 / 4"),
    "a sixteenth of the square": ("privacy/guarantee.py", "** 2 / 8", "** 2 / 16"),
    "rho of a bounded range for all": ("privacy/guarantee.py", "number * math.tanh(number / 2)", "number * number / 8"),
    "replacing costs one step": ("privacy/guarantee.py", "steps = 2 if", "steps = 1 if"),
    "rho of a group is linear": ("privacy/guarantee.py", "size * size", "size"),
    "floats add up": ("privacy/amounts.py", "up(exact(number) * factor)", "number * factor"),
    "nobody changes group": ("privacy/whole.py", "(2 if moves else 1)", "1"),
    "everybody changes group": ("privacy/whole.py", "(parted and not public)", "parted"),
    "a term of the divergence": ("privacy/renyi.py", "2 * math.sinh(eta / 4) ** 2", "0"),
    "wide ranges": ("privacy/renyi.py", "+ b * math.log(b)) / b", ") / b"),
    "bound of one order": ("privacy/renyi.py", "order * math.log1p(-1 / order)\n    return", "0.0\n    return"),
    "gains of the term before": ("privacy/planning.py", "(last + 1 - i) * eta", "(last - i) * eta"),
    "best without a maximum": ("privacy/planning.py", "if bounds[j] < best:", "if best > -math.inf:"),
    "rounds above rho": ("privacy/peeling.py", "root = math.nextafter(root, 0.0)", "break"),
    "budget to the last cent but one": ("budget/terms.py", "total.amount > printed(self.limit)", "total.amount >= printed(self.limit)"),
    "budget never full": ("budget/terms.py", "total.amount > printed(self.limit)", "total.amount > 2 * printed(self.limit)"),
    "rows are charged as one": ("budget/question.py", "            self.rows,\n            self.disjoint,", "            1,\n            self.disjoint,"),
    "sums of 28 digits": ("budget/terms.py", "prec=1000, Emin=-9999, Emax=9999, traps=[Inexact, InvalidOperation]", ""),
    "budget of any relation": ("budget/terms.py", "guarantee.under(validate.neighbors(self.neighbors))", "guarantee"),
    "block's coin accepted at the bound": ("kernels/select/envelope.py", "- before < lower(weight)", "- before <= lower(weight)"),
    "block's coin of the whole": ("kernels/select/envelope.py", "np.int64(r) - before <", "np.int64(r) <"),
    "block takes refused words": ("kernels/select/envelope.py", "NONE, np.uint64(total), WORD)\n    if not counts:", "NONE, np.uint64(total), WORD)\n    if False:"),
    "one height at twice the rate": ("kernels/bits/heights.py", "    return rate * np.float64(top - (bits ^", "    return 2 * rate * np.float64(top - (bits ^"),
    "polynomial": ("kernels/select/envelope.py", "0.0096181291811644", "0.00961812"),
}  # fmt: skip

# For `tests.support.checks.selection`: noisy maxima, permute-and-flip, top-k.
SELECTION = {
    "noise of the wrong sign": ("kernels/select/gumbel.py", "return -log_one(-log_rest", "return log_one(-log_rest"),
    "Laplace's noise of one side": ("kernels/select/gumbel.py", "else log_one(2.0 * rest)", "else -log_one(2.0 * rest)"),
    "long words ignored": ("kernels/select/gumbel.py", "(np.float64(more) + 0.5) * FINE if word < LONG else 0.5 * UNIT", "0.5 * UNIT"),
    "long words of the neighbour": ("kernels/select/gumbel.py", "more = one if place", "more = two if place"),
    "the word 0 without an end": ("kernels/select/gumbel.py", "(np.float64(more) + 0.5) * FINE", "np.float64(more) * FINE"),
    "threshold without margin": ("kernels/select/gumbel.py", "g = gap - MARGIN", "g = gap"),
    "threshold without the base": ("kernels/select/gumbel.py", "+ most_base(base)", "+ 0.0"),
    "heap by the greater child": ("kernels/select/gumbel.py", "keys[child + 1] < keys[child]", "keys[child + 1] > keys[child]"),
    "heap forgets places": ("kernels/select/gumbel.py", "keys[at], places[at] = keys[child], places[child]", "keys[at] = keys[child]"),
    "least key first": ("kernels/select/gumbel.py", "out[last] = places[0]", "out[out.size - 1 - last] = places[0]"),
    "coarse keys decide": ("kernels/select/gumbel.py", "near += 1 if height > -NEAR else 0", "near += 1"),
    "doubtful tries stand": ("kernels/select/permute_flip.py", "winner if verdict == ACCEPTED else np.int64(MORE", "winner if verdict != REJECTED else np.int64(MORE"),
    "single flips of one stream": ("kernels/select/permute_flip.py", "stream_of(seed, tag, name)", "stream_of(seed, tag, NONE)"),
    "tried again": ("kernels/select/permute_flip.py", "if counts and not is_in(tried, count, index):", "if counts:"),
    "tried ones toss again": ("kernels/select/permute_flip.py", "and not is_in(tried, failed, b * BLOCK + i):", "and True:"),
    "later coins are the first words": ("kernels/select/permute_flip.py", "LATER = np.uint64(1 << 16)", "LATER = np.uint64(0)"),
    "first success wins": ("kernels/select/permute_flip.py", "number, counts = below_word(word, np.uint64(count))", "number, counts = np.uint64(0), True"),
    "low bits of later coins": ("kernels/select/permute_flip.py", "rho = np.int64(words[i] >> UNUSED)\n        if", "rho = np.int64(words[i] & np.uint64((1 << COIN_BITS) - 1))\n        if"),
    "half a coin": ("kernels/select/permute_flip.py", "(np.int64(1) << s) - 1", "(np.int64(1) << (s - 1)) - 1"),
    "doubtful coins succeed": ("kernels/select/permute_flip.py", "verdict = ACCEPTED if rho < lower(weights[i]) else UNSURE", "verdict = ACCEPTED"),
    "doubtful coins fail": ("kernels/select/chords.py", "REJECTED if rho >= upper(r)", "REJECTED if rho >= lower(r)"),
    "one answer for all": ("kernels/select/permute_flip.py", "control[ANSWERS + 1 + tests], tests + 1", "control[ANSWERS + 1], tests + 1"),
    "answers from the start": ("kernels/select/permute_flip.py", "tests = blocks[2 * b + 1]", "tests = np.int64(0)"),
    "successes of blocks before": ("kernels/select/permute_flip.py", "wanted -= blocks[2 * b]", "wanted -= 0"),
    "every block the same words": ("kernels/select/permute_flip.py", "given[min(b * BLOCK + i,", "given[min(i,"),
    "exact coins at one scale": ("_selection/permute_flip.py", "Fraction(2**s)", "Fraction(2**40)"),
    "exact coins share words": ("_selection/permute_flip.py", "COINS + (answers << 16)", "COINS"),
    "panel beyond the end": ("laws/flip_integrals.py", "min(1.0 - start, DECADES / slope)", "DECADES / slope"),
    "too few nodes": ("laws/flip_integrals.py", "NODES = 20", "NODES = 6"),
    "groups of one": ("kernels/select/flip_law.py", "logs[i] = counts[i] * (", "logs[i] = ("),
    "factors without 1 - w": ("kernels/select/flip_law.py", "(1.0 - weights[i]) + weights[i] * rest", "weights[i] * rest"),
    "flips at the greater rate": ("mechanisms/permute_and_flip.py", "self._weigh_epsilon(self.epsilon)", "self._weigh_epsilon(2 * self.epsilon)"),
    "permute-and-flip of bounded range": ("mechanisms/permute_and_flip.py", "return pure_guarantee(", "from ..privacy import selection_guarantee\n        return selection_guarantee("),
    "a noise under another name": ("mechanisms/report_noisy_max.py", '"exponential": gumbel.EXPONENTIAL', '"exponential": gumbel.GUMBEL'),
    "selected twice": ("kernels/select/peel.py", "log_base[index] = -np.inf", "log_base[index] = 0.0"),
    "block not scanned again": ("kernels/select/peel.py", "    scan(bits[part], kind, log_base[part], rate, scale, triples[3 * b : 3 * b + 3], work)", "    pass"),
    "sums settled twice": ("kernels/select/peel.py", "blocks[i] = triples[i]", "blocks[i] = triples[i] if r == 0 else blocks[i]"),
    "peeled rounds share their words": ("kernels/select/peel.py", "words[2 * r : 2 * r + 2]", "words[:2]"),
    "the round before an exact test stays": ("_selection/top_k.py", "self._last = int(out[settled - 1])", "self._last = SCANNED if rounds < rest.size else int(out[settled - 1])"),
    "selected ones in the sum": ("laws/top_k.py", "for u in values[i:]]", "for u in values]"),
    "every round spends all": ("privacy/peeling.py", "return Fraction(total) / k", "return Fraction(total)"),
}  # fmt: skip

# For `tests.support.checks.rows`: bounds by chords, rounds, two levels, tiles.
ROWS = {
    "chord below the curve": ("kernels/select/chords.py", "FIXED = 1610612736.0 + 2.0**-21", "FIXED = 1610612736.0 - 2.0**-21"),
    "chord without its unit": ("kernels/select/chords.py", "INTEGER_BITS - np.uint64(1)", "INTEGER_BITS"),
    "lift forgotten": ("kernels/select/chords.py", "DEEPEST + lift, fixed + lift", "DEEPEST + lift, fixed"),
    "base 0 may be drawn": ("kernels/select/chords.py", "            work[i] = 0\n    return fill_lanes", "            work[i] = 1\n    return fill_lanes"),
    "eighth part forgotten": ("kernels/select/chords.py", "(g[i] + h[i])", "(g[i] + g[i])"),
    "wrong side of the lanes": ("kernels/select/chords.py", "passed = seen <= rho", "passed = seen < rho"),
    "wrong side within a lane": ("kernels/select/chords.py", "seen + work[index] <= rho", "seen + work[index] < rho"),
    "biased word": ("kernels/select/chords.py", "counts = low >= (NONE - bound) % bound", "counts = True"),
    "first word again": ("kernels/select/rounds.py", "word if number % 2 == 0 else other", "word"),
    "coin of the whole row": ("kernels/select/rounds.py", "rho, only = np.int64(r) - before,", "rho, only = np.int64(r),"),
    "one answer for all tests": ("kernels/select/rounds.py", "return control[ANSWERS + 1 + tests]", "return control[ANSWERS + 1]"),
    "the next row's best": ("kernels/select/rounds.py", "fill_and_look(row, key_float(top),", "fill_and_look(row, key_float(next_top),"),
    "coarse bounds with a base": ("kernels/select/two_level.py", "control[TWO_LEVELS] > 0 and log_base.size == 0", "control[TWO_LEVELS] > 0"),
    "blocks bounded by one candidate": ("kernels/select/two_level.py", " * min(BLOCK, size - b * BLOCK)\n        elif", "\n        elif"),
    "blocks are not refined": ("kernels/select/two_level.py", "bounds[b] = refine(\n                    b, bits, narrow, kind, best, rate, log_base, lift, fixed, scratch, wide\n                )\n                inside", "inside"),
    "wrong side of the blocks": ("kernels/select/two_level.py", "before <= low)", "before < low)"),
    "lanes of single draws without a rest": ("kernels/select/single.py", "work[whole + lane] if whole + lane < size else np.int64(0)", "np.int64(0)"),
    "single draws take their first word again": ("kernels/select/single.py", "        word = other\n", ""),
    "doubtful single draws stand": ("kernels/select/single.py", "return UNSURE if verdict == UNSURE else index", "return index"),
    "raw words without their lower halves": ("kernels/bits/words.py", "(low & LOW) | (high << HALF), (seed[2]", "low, (seed[2]"),
    "single draws of one stream": ("kernels/bits/words.py", "return philox(name, tag ^ high, low)", "return philox(ZERO, tag ^ high, low)"),
    "signs of float32": ("kernels/select/two_level.py", "np.uint32(sign | SIGN_32)", "SIGN_32"),
    "float32 without an end": ("kernels/select/two_level.py", "np.uint32(0xFF7FFFFF)", "ALL_32"),
    "float32 without a lower end": ("kernels/select/two_level.py", "np.uint32(0x00800000)", "NONE_32"),
    "tiles accept at the bound": ("kernels/select/tiles.py", "(rests[r] < least)", "(rests[r] <= least)"),
    "tiles take refused words": ("kernels/select/tiles.py", "np.int64(high) if low >= np.uint64(totals[r]) else np.int64(-1)", "np.int64(high)"),
    "exact coins of the round before": ("_selection/rows.py", "number + 1 << COINS", "number << COINS"),
    "names of rows ignored": ("_randomness/streams.py", "seeds[HEADER + first : HEADER + last]", "seeds[HEADER : HEADER + last - first]"),
}  # fmt: skip

# For `tests.support.checks.numbers`: cells, widths, places, coins.
NUMBERS = {
    "gap of one point too many": ("kernels/numbers/runs.py", "start[m], count[m] = free, stop - free", "start[m], count[m] = free, stop - free + 1"),
    "records at a point ignored": ("kernels/numbers/runs.py", "distance(under, equal, total - under - equal, form)", "distance(under, 0, total - under, form)"),
    "bound from the other side": ("kernels/numbers/runs.py", "RIGHT if end == 0 else LEFT", "LEFT if end == 0 else RIGHT"),
    "bounds taken as exact": ("kernels/numbers/runs.py", "2 * least(known, form, at) + 1", "2 * least(known, form, at)"),
    "ties beyond the window": ("kernels/numbers/rank_rows.py", "            below = high\n", "            below = first\n"),
    "close points spread": ("kernels/numbers/rank_rows.py", "points[j + 1] - points[j] < 2", "points[j + 1] - points[j] < 1"),
    "ties above the window": ("kernels/numbers/rank_rows.py", "records[m - 1] += high - 1 - last", "records[m - 1] += 0"),
    "keys of rows a rank off": ("kernels/numbers/rank_rows.py", "fill_keys(first, length, form, keys)", "fill_keys(first + 1, length, form, keys)"),
    "bounds of records only": ("kernels/numbers/runs.py", "return min(side(ranks, form, at, 0), side(ranks, form, at, 1))", "return side(ranks, form, at, 1) + 1"),
    "least distance forgotten": ("kernels/numbers/runs.py", "return max(np.int64(form[empty]), most)", "return most"),
    "widened by one less": ("kernels/numbers/runs.py", "count[queue[front]] - 1 + width < t", "count[queue[front]] - 1 + width <= t"),
    "widened by one more": ("kernels/numbers/runs.py", "stop = start[best] + count[best] + width", "stop = start[best] + count[best] + width + 1"),
    "widening forgets the nearest": ("kernels/numbers/runs.py", "while back > front and key[queue[back - 1]] >= key[entered]", "while back > front and key[queue[back - 1]] >= key[entered] - 2"),
    "places of refused words": ("kernels/numbers/places.py", "return word * n < (np.uint64(0) - n) % n", "return False"),
    "places never in doubt": ("kernels/numbers/places.py", "return np.int64(high), word * n < n", "return np.int64(high), False"),
    "place beside the cell": ("kernels/numbers/places.py", "part[j] = start[cell] + inside", "part[j] = start[cell] + inside + 1"),
    "coin without slack": ("kernels/numbers/places.py", "if v + 2.0**-52 <= p - slack", "if v <= p"),
    "coin's other side": ("kernels/numbers/places.py", "if v >= p + slack + 2.0**-60", "if v + 2.0**-52 >= p"),
    "exact coin of twice the height": ("_numbers/cells.py", "exact.exp_bounds(exponent, bits + 8)", "exact.exp_bounds(2 * exponent, bits + 8)"),
    "refused draws pass": ("_numbers/cells.py", "return index, open_[~passed]", "return index, NONE"),
    "every round the same words": ("_numbers/cells.py", "tag = number << ROUND", "tag = 0"),
    "loose cells at once": ("_numbers/cells.py", "if loose is None or not loose[cell] or", "if True or"),
    "ranks without records": ("_numbers/rank.py", "min(max(n - -(-other // t), 0), n), min(max(-(-gate // s), 0), n)", "n - -(-other // t), -(-gate // s)"),
    "counts are no base": ("_selection/weighting.py", "weighting.log_base, weighting.log2_base = NO_BASE, log2_base", "weighting.log_base, weighting.log2_base = NO_BASE, 0 * log2_base"),
    "factor 2 of ranks": ("privacy/rates.py", "selection_rate(epsilon, validate.counting(\"steps\", steps), monotonic=False)", "selection_rate(epsilon, steps, monotonic=True)"),
    "window of exact distances too short": ("_numbers/rank.py", "below, above = self.source.below(grid, t), self.source.below(grid, t + 1)", "below, above = self.source.below(grid, t), self.source.below(grid, t)"),
    "nearest record forgotten": ("_numbers/rank.py", "nearest |= {self.source.last(grid, last), self.source.first(grid, first)}", "pass"),
    "loose end forgotten": ("_numbers/rank.py", "loose[-1] = True", "loose[-1] = False"),
    "median's other half": ("_numbers/distance.py", "low, high = _surplus(whole, part * n), _surplus(whole, (whole - part) * n)", "low, high = _surplus(whole, part * n), _surplus(whole, part * n)"),
    "ranges by their lowest price": ("_numbers/revenue_section.py", "prices.bounds(paying, stops - 1)", "prices.bounds(paying, starts)"),
    "bids beyond a section forgotten": ("_numbers/revenue_section.py", "runs.bids + beyond", "runs.bids"),
    "a section's first price": ("_numbers/revenue_section.py", "Demand(runs.last + start, runs.bids + beyond, start)", "Demand(runs.last + start, runs.bids + beyond, 0)"),
    "bids at a price outside forgotten": ("_numbers/revenue_section.py", "total - source.below(grid, t)", "total - source.below(grid, t + 1)"),
    "outside as exact as inside": ("_numbers/revenue_cells.py", "loose | (outside != 0)", "loose"),
}  # fmt: skip

# For `tests.support.checks.records`: grids, windows, passes over unsorted records.
RECORDS = {
    "record below its price": ("kernels/numbers/grid_points.py", "return point(t, unit, scale) <= x", "return point(t, unit, scale) < x"),
    "half-way at the odd point": ("kernels/numbers/grid_points.py", "t & 1 == 0", "t & 1 == 1"),
    "half-way always up": ("kernels/numbers/histogram.py", "t -= np.uint64(1 if before else 0) + (np.uint64(1 if tie else 0) & t)", "t -= np.uint64(1 if before else 0)"),
    "rounded products compared": ("kernels/numbers/grid_points.py", "np.float64(np.int64(rounded) - middle) + lost", "np.float64(np.int64(rounded) - middle)"),
    "rounded middles compared": ("kernels/numbers/grid_points.py", "np.float64(np.int64(rounded) - middle) + lost", "lost"),
    "rounded products in blocks": ("kernels/numbers/histogram.py", "(product == middle) & (lost < rest)", "False"),
    "edges are above themselves": ("kernels/numbers/edges.py", "edges[t + step - 1] <= x", "edges[t + step - 1] < x"),
    "cells too full to be searched": ("kernels/numbers/edges.py", "halving = 1 << (int(counts.max()).bit_length() - 1)", "halving = 1"),
    "below zero the order is turned": ("kernels/numbers/edges.py", "(ZERO - (bits >> SIGN)) & ALL_BUT_SIGN)) ^ TOP  # as", "ZERO)) ^ TOP  # as"),
    "two zeros": ("kernels/numbers/edges.py", "float_bits(x + 0.0)", "float_bits(x)"),
    "beyond the last edge": ("kernels/numbers/edges.py", "halving, np.nan)", "halving, np.inf)"),
    "rounded middles of points": ("_parameters/grid_edges.py", "more = (lost > 0.0) | ((lost == 0.0) & ~odd)", "more = ~odd"),
    "estimate without its margin": ("kernels/numbers/grid_points.py", "sure = margin < part < 1.0 - margin", "sure = margin < 1.0"),
    "estimate taken for the point": ("kernels/numbers/grid_points.py", "    while t > 0 and not reaches(x, t, unit, scale):\n        t -= 1\n", ""),
    "estimate without a margin": ("_parameters/grid.py", "margin = float(min(Fraction(last, 1 << 50) + 4 * Fraction(ulp) / width, Fraction(1)))", "margin = 0.0"),
    "wide points rounded twice": ("kernels/numbers/grid_points.py", "            whole |= 1\n", "            whole |= 0\n"),
    "ties outside are overlooked": ("_intake/record_sources.py", "records[0] += first - below", "records[0] += 0"),
    "ties above are overlooked": ("_intake/record_sources.py", "records[-1] += stop - last", "records[-1] += 0"),
    "window one rank short": ("_intake/record_sources.py", "first, last = max(low - 1, 0), min(high + 2, n)", "first, last = max(low - 1, 0), min(high + 1, n)"),
    "edges between records of one point": ("_intake/unsorted.py", "low = max(grid.least(first, floats), low)", "low = sample[max(left, 0)].item()"),
    "gathered without the ends": ("kernels/numbers/select_rank.py", "(x >= low) & (x <= high)", "(x > low) & (x < high)"),
    "room taken for all": ("_intake/unsorted.py", "if middle.values.size < middle.inside:", "if False:"),
    "points of the middle swapped": ("_intake/unsorted.py", "grid.under(t, middle.values)", "~grid.under(t, middle.values)"),
    "a record more in each piece": ("_intake/unsorted.py", "        ends[-1] += middle.inside", "        ends[-1] += middle.inside + 1"),
    "records below pieces forgotten": ("_intake/unsorted.py", "        below += middle.below\n        ends", "        below = middle.below\n        ends"),
    "missed pivots believed": ("_intake/unsorted.py", "if not any(short):", "if True:"),
    "missing read as the other bound": ("_intake/arrays.py", 'ends[nan == "upper"]', 'ends[nan == "lower"]'),
}  # fmt: skip

# For `tests.support.checks.laplace`: Laplace noise by inversion, kernel and twin.
LAPLACE = {
    "logarithms without a margin": ("kernels/numbers/laplace.py", "MARGIN = 2.0**-42", "MARGIN = 0.0"),
    "a margin of half a word": ("kernels/numbers/laplace.py", "MARGIN = 2.0**-42", "MARGIN = 2.0**-65"),
    "short words are enough": ("kernels/numbers/laplace.py", "LEAST = np.uint64(1 << 44)", "LEAST = np.uint64(1)"),
    "a margin on one side": ("kernels/numbers/laplace.py", "& (part >= margin)", "& (part >= 0.0)"),
    "a margin on the other side": ("kernels/numbers/laplace.py", "& (part <= 1.0 - margin)", "& (part <= 1.0)"),
    "the right takes the left's words": ("kernels/numbers/laplace.py", "lead = word if on_left else ~word", "lead = word"),
    "sides that have no end": ("kernels/numbers/laplace.py", "(1.0 - q_right) + (1.0 - q_left) * t", "1.0 + t"),
    "sides exchanged": ("kernels/numbers/laplace.py", "number = ~number if on_left else number", "number = number if on_left else ~number"),
    "Laplace's coins are not tossed": ("kernels/numbers/laplace.py", "coins = 1.0 - width - SLACK", "coins = 2.0"),
    "Laplace's places that favour some": ("kernels/numbers/laplace.py", "sure &= rest >= np.uint64(count) and", "sure &="),
    "blocks reach beyond their side": ("kernels/numbers/laplace.py", "count = min(block, points - passed) if points >= 0 else block", "count = block"),
    "a later digit of V is 0": ("reference/exact_laplace.py", "lead << 64 | more()", "lead << 64 | more() >> 1"),
    "exact sides without an end": ("reference/exact_laplace.py", "[(0, 0) if n is None else exp_bounds(rate * n, precision) for n in points]", "[(0, 0) for n in points]"),
    "exact sides are alike": ("reference/exact_laplace.py", "exp_bounds(rate * (gap - min(gaps)), precision)", "exp_bounds(Fraction(0), precision)"),
    "exact blocks of one point": ("reference/exact_laplace.py", "width = rate * block * one", "width = rate * one"),
    "exact coins from the statistic": ("reference/exact_laplace.py", "base = abs(start - phase)", "base = Fraction(0)"),
    "exact places are not refused": ("reference/exact_laplace.py", "if accept(rate, gap, ONE, 0, partial(next, rest)):", "if True:"),
    "open draws share their words": ("_numbers/laplace.py", "Spare(again, block * DRAWS + j, 0)", "Spare(again, 0, 0)"),
}  # fmt: skip

STUDIES = {
    "a window of one rank less": ("kernels/numbers/smooth.py", "* exp_one(-beta * (p + q - 1))", "* exp_one(-beta * (p + q))"),
    "sides alone": ("kernels/numbers/smooth.py", "        pairs(left, right, weights, below, above, best, window)\n    p, q", "        pass\n    p, q"),
    "an older line": ("kernels/numbers/smooth.py", "if height[top - 1] + other * t < value:", "if height[top - 1] + other * t > value:"),
    "lines that are nowhere": ("kernels/numbers/smooth.py", "if top >= 0 and start <= height[top]:", "if top >= 0 and start >= height[top]:"),
    "ranks given up early": ("kernels/numbers/smooth.py", "if spread * weights[inner] < best:", "if True:"),
    "costs passed over": ("kernels/numbers/smooth.py", "            run *= 2\n", "            run *= 8\n            k += 1\n"),
    "the full range a record too early": ("kernels/numbers/smooth.py", "    if k > n:\n        return limits[UPPER] - limits[LOWER]", "    if k >= n:\n        return limits[UPPER] - limits[LOWER]"),
    "published scale": ("privacy/smooth_noise.py", "return below(epsilon / 6), below(epsilon / 6)", "return below(epsilon / 5), below(epsilon / 6)"),
    "delta instead of delta'": ("privacy/smooth_noise.py", "log = epsilon / 2 + math.log1p(math.exp(-epsilon / 2)) - math.log(delta)", "log = math.log(2 / delta)"),
    "a dilation that costs nothing": ("privacy/smooth_noise_pairs.py", "min(shift, 2 * math.sqrt(math.exp(beta) * rest))", "shift"),
    "one end of the frontier": ("privacy/smooth_noise_pairs.py", "math.sqrt(min(least(0.0), least(beta)))", "math.sqrt(least(0.0))"),
    "a tail that costs half": ("privacy/smooth_noise_pairs.py", "max(epsilon - 2 * beta, 0.0) * math.exp(beta)", "max(epsilon - beta, 0.0) * math.exp(beta)"),
    "twice the rho": ("privacy/smooth_noise.py", "** 2 / 2", "** 2 / 1"),
    "a bound on one side": ("laws/clamped_noise.py", "0.5 * self._mean_min(self.centre - low)", "0.5 * self._mean_min(high - self.centre)"),
    "the mean of both medians": ("_numbers/noise.py", "ordered[:, (n - 1) // 2]", "ordered[:, n // 2]"),
    "the gap above counts twice": ("kernels/figures/rank_figures.py", "high = points - low", "high = points"),
    "the truth's share": ("kernels/figures/rank_figures.py", "before = share - (first + low - 1.0 - place)", "before = -(first + low - 1.0 - place)"),
    "squares of ends": ("kernels/figures/rank_figures.py", "(1.0 / 6.0)", "(1.0 / 3.0)"),
    "weights of other keys": ("kernels/figures/rank_figures.py", "others += 1 if key[k] != before[k] else 0", "others += 0"),
    "loose cells as if near": ("kernels/figures/rank_figures.py", "            if key[k] & 1:\n                blocks[place_of(k) + WEIGHT] = 0.0\n", ""),
    "ends that may count": ("kernels/figures/rank_figures.py", "mass = np.nan", "mass += 0.0"),
    "masses that may be missing": ("kernels/figures/rank_errors.py", "left <= TINY * total", "True"),
    "edges not closed": ("kernels/figures/rank_errors.py", "(after and rest == 0.0)", "False"),
    "losses from 0": ("kernels/figures/rank_errors.py", "(key >> 1) - (least >> 1)", "key >> 1"),
    "losses of bounds": ("kernels/figures/rank_errors.py", "if key & 1 == 0 else np.nan", "if key >= 0 else np.nan"),
    "every block the same data": ("studies/run/task.py", "spawn_key=(number,)", "spawn_key=(0,)"),
    "the last block is full": ("studies/run/task.py", "rows = min(design.block_size, design.datasets - first)", "rows = design.block_size"),
    "the wrong data agree": ("studies/report/table_rows.py", "abs(z) <= LIMIT", "abs(z) >= 0"),
    "a damaged line counts": ("studies/store/writing.py", "int(check, 16) == zlib.crc32(text)", "int(check, 16) >= 0"),
    "bins to the left": ("studies/sums/sketch.py", 'np.searchsorted(edges, values.reshape(-1), "left")', 'np.searchsorted(edges, values.reshape(-1), "right")'),
    "bins forgotten": ("studies/sums/sketch.py", "return int(pack[0]), values", "return 0, values"),
    "groups have no spread": ("studies/sums/exact_sums.py", "(self._within.total + between)", "self._within.total"),
    "Lambert's argument": ("laws/error_bound.py", "4.0 * (math.e - 1.0)", "2.0 * (math.e - 1.0)"),
}  # fmt: skip


GROUPS = {
    "weights rounded down": ("reference/exact_groups.py", "return weight_floor(rate, e) + (e > 0)", "return max(weight_floor(rate, e), 1)"),
    "a table of half the rate": ("_numbers/weights.py", "near = [exact.exp_bounds(rate * e, bits)", "near = [exact.exp_bounds(rate * e / 2, bits)"),
    "weights of far distances forgotten": ("_numbers/weights.py", "floor + 1 if floor == top", "floor if floor == top"),
    "far weights rounded down": ("kernels/groups/long_draws.py", "(low >> LOWER_BITS)) + ONE_WORD", "(low >> LOWER_BITS))"),
    "far distances are near": ("kernels/groups/long_draws.py", "if e > MASK:", "if e < ZERO:"),
    "long windows without ties": ("kernels/groups/long_draws.py", "points[i + equal] == points[i]", "points[i + equal] < points[i]"),
    "long windows without bounds": ("kernels/groups/long_draws.py", "if loose or not sure or", "if not sure or"),
    "the bound of a long window's other side": ("kernels/groups/long_draws.py", "(total - under, RIGHT) if i == 0 else (under, LEFT)", "(under, LEFT) if i == 0 else (total - under, RIGHT)"),
    "long windows begin at the first record": ("kernels/groups/long_draws.py", "np.int64(0), np.int64(0), np.int64(0), below", "np.int64(0), np.int64(0), np.int64(0), np.int64(0)"),
    "the first sum of a long window at its bound": ("kernels/groups/long_draws.py", "(one == r1 and zero > r0)", "one == r1"),
    "ranks that matter end early": ("kernels/groups/rank_draws.py", "max(left + 1, right) + reach, n) - 1", "max(left + 1, right) + reach, n) - 2"),
    "ranks that matter of the other side": ("kernels/groups/rank_draws.py", "-form[RIGHT + GATE] // form[RIGHT + S]", "-form[LEFT + GATE] // form[LEFT + S]"),
    "forms without their records": ("kernels/groups/rank_draws.py", "line[i] + n * line[FORM + i]", "line[i] + line[FORM + i]"),
    "every row the words of the first": ("kernels/groups/rank_draws.py", "words[4 * draws * r : 4 * draws * (r + 1)]", "words[: 4 * draws]"),
    "every row the records of the first": ("kernels/groups/rank_draws.py", "records[r * n : (r + 1) * n]", "records[:n]"),
    "forms of replace are lines": ("_numbers/few_records.py", "if not form.linear:", "if False:"),
    "no records are one": ("_numbers/few_records.py", "return self._line if n > 0 else", "return self._line if True else"),
    "open draws from other words": ("_numbers/few_records.py", "Spare(streams[2 * r : 2 * r + 2], j + 1, 0)", "Spare(streams[2 * r : 2 * r + 2], j, 0)"),
    "released points of bounds are certain": ("_numbers/few_records.py", "if self._fill(values, values.size, indices, words, out):", "if self._fill(values, values.size, indices, words, out) and out.put(0, 0):"),
    "tables of few distances": ("_numbers/few_records.py", "for n in (0, 1, SMALL - 1, SMALL))", "for n in (0, 1))"),
    "a coin at the bound passes": ("kernels/groups/segment_ranks.py", "left > n or", "left >= ZERO or"),
    "points beyond the window are certain": ("kernels/groups/segment_ranks.py", " or key & 1:\n        return OPEN", ":\n        return OPEN"),
    "gaps begin at their record": ("kernels/groups/segment_ranks.py", "    free = points[i - 1] + 1 if i > 0", "    free = points[i - 1] if i > 0"),
    "gaps one point too long": ("kernels/groups/segment_ranks.py", "wide_product(np.uint64(points[i] - free), np", "wide_product(np.uint64(points[i] - free + 1), np"),
    "no points behind the last record": ("kernels/groups/segment_ranks.py", "wide_product(np.uint64(size - free), np", "wide_product(np.uint64(0), np"),
    "records weigh like gaps": ("kernels/groups/segment_ranks.py", "point_weight[i] = table[min((point[i] >> 1) - nearest, last)]", "point_weight[i] = table[min((gap[i] >> 1) - nearest, last)]"),
    "no carry between words": ("kernels/groups/segment_ranks.py", "one += ONE_WORD if zero < weight else ZERO", "one += ZERO"),
    "equal records are several points": ("kernels/groups/segment_ranks.py", "return signs >= 0", "return True"),
    "a gap's coin has its record's weight, too": ("kernels/groups/segment_ranks.py", "        left -= weight\n", "        left -= ZERO\n"),
    "records are never drawn": ("kernels/groups/segment_ranks.py", "single = more == ZERO and left <= weight", "single = more == ZERO and left < ZERO"),
    "ties below the window forgotten": ("kernels/groups/segment_ranks.py", "while first > 0 and records[first - 1] == records[first]", "while first > 1 and records[0] == records[first]"),
    "ties above the window forgotten": ("kernels/groups/segment_ranks.py", "while last < records.size - 1 and records[last + 1] == records[last]", "while last < 0"),
    "records below forgotten": ("kernels/groups/segment_ranks.py", "            below[i] += under\n", "            below[i] += 0\n"),
    "the bound below from the other side": ("kernels/groups/segment_ranks.py", "2 * least(total - below[0], numbers, RIGHT) + 1", "2 * least(below[0], numbers, LEFT) + 1"),
    "the first sum at the bound": ("kernels/groups/segment_draws.py", "low[at] <= r0)", "low[at] < r0)"),
    "words exchanged": ("kernels/groups/segment_ranks.py", "below_sum(words[1], words[0],", "below_sum(words[0], words[1],"),
    "no carry in products": ("kernels/groups/segment_draws.py", "    low += r1\n    over += ONE_WORD if low < r1 else ZERO\n", "    low += r1\n    over += ONE_WORD if low > r1 else ZERO\n"),
    "the place from the used words": ("kernels/groups/segment_ranks.py", "wide_product(words[2], n)", "wide_product(words[1], n)"),
    "every group the words of the first": ("kernels/groups/segment_ranks.py", "draw_words = words[WORDS * j : WORDS * (j + 1)]", "draw_words = words[:WORDS]"),
    "every draw the words of the first": ("kernels/groups/group_words.py", "philox(np.uint64(i), prefix, key)", "philox(np.uint64(i % 2), prefix, key)"),
    "groups' names forgotten": ("kernels/groups/group_words.py", "philox(names[g], tags[g] ^ key[1], key[0])", "philox(ZERO, tags[g] ^ key[1], key[0])"),
    "the greatest count is its own rival": ("kernels/groups/segment_cells.py", "0 if behind + modes == 1 else 1", "1"),
    "modes of fewer records counted": ("kernels/groups/segment_cells.py", "modes = np.int64(0) if records[i] > most else modes", "modes = modes"),
    "points without records as near as the mode": ("kernels/groups/segment_cells.py", "2 * (most + 1)", "2 * most"),
    "near points end too early": ("kernels/groups/segment_cells.py", "while entered <= near[k + t]", "while entered < near[k + t]"),
    "near points begin too late": ("kernels/groups/segment_cells.py", "while queue[front] < near[t]", "while queue[front] <= near[t] and front + 1 < back"),
    "records below a narrow window forgotten": ("kernels/groups/segment_cells.py", "        under += below[0]\n", ""),
    "a window's ranks are those of all": ("kernels/groups/segment_cells.py", "form[FIRST] - under, form[LAST] - under", "form[FIRST], min(form[LAST], some.size - 1)"),
    "widths forgotten": ("kernels/groups/segment_cells.py", "        if width > 0 or k > 0:\n", "        if k > 0:\n"),
    "groups by the cells of another width": ("_numbers/few_cells.py", "grid.size, self._statistic.width", "grid.size, self._statistic.width + 1"),
    "open draws accept everything": ("reference/exact_groups.py", "if rho << 8 >= count * hi:\n            return False", "if rho << 8 >= count * hi:\n            return True"),
    "open draws by their bound": ("reference/exact_groups.py", "e = (true(point) if loose else bound) - least", "e = bound - least"),
    "later words of another draw": ("grouped/words.py", "2 * group + 2], draw + 1, 0)", "2 * group + 2], draw, 0)"),
    "pivots too near": ("kernels/groups/segment_window.py", "ok = tally[0] <= first - below and tally[0] + inside > last - below", "ok = True"),
    "pivots of the wrong ranks": ("kernels/groups/segment_window.py", "below, flipped = below + tally[0], not flipped", "below, flipped = tally[0] + 1, not flipped"),
    "records on the low edge lie below": ("kernels/groups/between.py", "under = x < edges", "under = x <= edges"),
    "records on the high edge lie between": ("kernels/groups/between.py", "x >= edges[2 * slot + 1]", "x > edges[2 * slot + 1]"),
    "infinity is an edge": ("kernels/groups/between.py", "NO_EDGE = np.nan", "NO_EDGE = np.inf"),
    "records below are not counted": ("kernels/groups/between.py", "1 + (np.int64(under) << BELOW)", "1 + (np.int64(under) << 0)"),
    "pivots that miss matter": ("grouped/pivots.py", "    if missed.any():", "    if missed.all() and groups < 0:"),
    "records below pivots forgotten": ("kernels/groups/segment_window.py", "size, under + below", "size, below"),
    "open draws from the records between": ("grouped/pivots.py", "records = partial(_records, values, codes)", "records = Segments(taken, offsets).group"),
    "no number is left out": ("kernels/groups/segment_window.py", "if tally[2] != 0 or below", "if below"),
    "short sorts of one less": ("kernels/groups/segment_sort.py", "for at in range(0, n, EIGHT):", "for at in range(0, n - 1, EIGHT):"),
    "merges forget the rest": ("kernels/groups/segment_sort.py", "    while j < n:\n        out[k] = source[j]", "    while j < n - 1:\n        out[k] = source[j]"),
    "candidates that nobody chose are best": ("kernels/groups/segment_counts.py", "out[i] = most - out[i]", "out[i] += 0"),
    "counts at twice the rate": ("mechanisms/most_common.py", "self._weighting.rate, segments, words, size", "2 * self._weighting.rate, segments, words, size"),
    "coins at their upper bound": ("kernels/groups/segment_counts.py", "<< shift < weight  #", "<< shift <= weight + (1 << shift)  #"),
    "open coins fail": ("kernels/groups/segment_counts.py", "not (success or rho << shift >= weight)", "False"),
    "the best one tosses, too": ("kernels/groups/segment_counts.py", "certain = distance[i] == 0", "certain = distance[i] < 0"),
    "all coins are one": ("kernels/groups/segment_counts.py", "at = i * bits", "at = 0"),
    "the choice is a coin's word": ("kernels/groups/segment_counts.py", "words[words.size - 1]", "words[0]"),
    "a choice that favours some": ("kernels/groups/segment_counts.py", "doubtful or rest < np.uint64(number)", "doubtful"),
    "coins at half the rate": ("reference/exact_groups.py", "accept(rate, Fraction(distance)", "accept(rate / 2, Fraction(distance)"),
    "the first success wins": ("reference/exact_groups.py", "return successes[draw_below(len(successes), more) if choice is None else choice]", "return successes[0]"),
    "later words are those of coins": ("grouped/words.py", "block, skip = divmod(self._count, BLOCK_WORDS)", "block, skip = 0, 0"),
    "draws share their words": ("grouped/counts.py", "more = drawn.more(g, fours * j)", "more = drawn.more(g, j)"),
    "bids pay below them alone": ("kernels/groups/segment_prices.py", "        paying += out[t]\n        if kind", "        paying += out[t + 1] if t + 1 < out.size else 0\n        if kind"),
    "bounds of prices are not above": ("kernels/groups/segment_prices.py", "float_bits(bound)) + 1", "float_bits(bound))"),
    "coins of prices always pass": ("kernels/groups/segment_prices.py", "kind == FLOAT and not passes(", "kind > 99 and not passes("),
    "coins of prices as if bounds were nearer": ("kernels/groups/segment_prices.py", "EXCESS, TWICE = 2.0**-47", "EXCESS, TWICE = 2.0**-50"),
    "an open price's coin is another word": ("grouped/prices.py", "WORDS * i : WORDS * i + 3]", "WORDS * i : WORDS * i + 4][[0, 0, 2]]"),
    "a group's bids stay for the next": ("kernels/groups/segment_prices.py", "    for t in range(out.size):\n        out[t] = 0\n    for", "    for"),
    "answers in the data's order": ("_keys/group_keys.py", "    columns, width = columns_of(", "    names = KeyNames(names.kind, sorted(names.texts)) if names.kinds == (\"text\",) else names\n    columns, width = columns_of("),
    "a retry is a second release": ("grouped/words.py", "self._secret, self._query = secret_words(key)", "self._secret, self._query = np.frombuffer(__import__(\"os\").urandom(32), np.uint64)"),
    "words of the raw order": ("grouped/segments.py", "    sort_all(points, segments.offsets)\n", "    sort_all(points[:0], segments.offsets[:1])\n"),
    "the rule is no part of the question": ("grouped/verbs.py", "request.rule(nan)", "\"\""),
    "labels do not count": ("_randomness/release_key.py", "encoded(\"label\", label)", "encoded(\"label\", \"\")"),
    "one group too many of a person": ("grouped/contribution.py", "digests, owner[crowd], limits[0])", "digests, owner[crowd], limits[0] + 1)"),
    "one row too many of a person": ("grouped/contribution.py", "_smallest(digests, pair, limits[1])", "_smallest(digests, pair, limits[1] + 1)"),
    "persons of no limits": ("grouped/counted.py", "return np.where(within, codes, -1)", "return codes"),
    "gaps count": ("grouped/counted.py", "return np.where(missing, -1, codes), values", "return np.where(missing, 0, codes), values"),
    "rows are said to be disjoint": ("grouped/request.py", "apart = validate.flag(\"disjoint\", disjoint)", "apart = True"),
    "limits are free": ("grouped/request.py", "            max_groups=self.max_groups,\n            max_rows=self.max_rows,\n", ""),
    "membership is public": ("grouped/request.py", "membership=checked_membership(membership, self.person)", "membership=\"public\""),
}  # fmt: skip

KEYS = {
    "tuples' places run together": ("_keys/group_names.py", "number *= keys.size + 1\n", "number *= max(1, keys.size)\n"),
    "tuples of a list run together": ("_keys/group_names.py", "number = number * (keys.size + 1) + index", "number = number * keys.size + index"),
    "large numbers wrap around": ("_keys/group_names.py", "distinct, number = np.unique(number, return_inverse=True)", "distinct = np.unique(number)"),
    "the last column alone": ("_keys/group_names.py", "            number += digits", "            number[:] = digits"),
    "a block is left out": ("_keys/group_keys.py", "range(first, last, BLOCK)", "range(first, max(1, last - BLOCK), BLOCK)"),
    "a missing key is one, too": ("_keys/group_keys.py", "there = (ids >= 0) & (digits >= 0)", "there = ids >= 0"),
    "the last column first": ("_keys/group_keys.py", "together = ids * names.size + digits", "together = digits * (ids.max() + 1) + ids"),
    "a product's first column is fastest": ("_keys/product.py", "np.tile(np.repeat(np.arange(size), behind), before)", "np.tile(np.repeat(np.arange(size), before), behind)"),
    "a product in its own order": ("_keys/product.py", "[index[i] for i in order]", "index"),
    "instants wrap around": ("_keys/key_rows.py", "fit = (numbers <= most) & (numbers >= -most)", "fit = numbers <= numbers"),
    "instants are cut off": ("_keys/key_rows.py", "fit = numbers % factor == 0", "fit = numbers == numbers"),
    "what is no time is an instant": ("_keys/key_rows.py", "there = numbers != NAT", "there = numbers == numbers"),
    "units do not matter": ("_keys/key_names.py", "if not (self.unit and unit):", "if True:"),
    "names of instants have a unit": ("_keys/key_names.py", "words[:, 1] = seconds.view(np.uint64)", "words[:, 1] = self.numbers.view(np.uint64)"),
    "booleans are called as integers": ("_keys/key_names.py", '"booleans": 4', '"booleans": 1'),
    "dates are called as integers": ("_keys/key_names.py", '"dates": 5', '"dates": 1'),
    "tuples are called by a part": ("_keys/key_names.py", "message[:, 1 + NAME_WORDS * i : 1 + NAME_WORDS * (i + 1)] = words", "message[:, 1 : 1 + NAME_WORDS] = words"),
    "tuples are called without a domain": ("_keys/key_names.py", 'b"fastexp.names"', 'b""'),
    "streams of digests are those of integers": ("_keys/key_names.py", "words[:, 1] | np.uint64(TEXT_BIT)", "words[:, 1]"),
    "kinds do not matter": ("_keys/group_keys.py", "kind not in (None, names.kind)", "kind is None"),
    "zones do not matter": ("_keys/key_objects.py", 'if attribute(item, "tzinfo", "one that fails") is not None:', "if False:"),
    "all units are read": ("_keys/key_columns.py", 'if count != 1 or (unit != "D" and unit not in TICKS):', "if False:"),
    "tuples may be there twice": ("_keys/group_names.py", "if first.size == numbers.size:", "if True:"),
}  # fmt: skip

# For `tests.support.checks.inlining`: helpers' bodies in the place of calls.
INLINING = {
    "what stands before a call is read behind it": ("_compiler/inlining.py", "if not _is_stable(_get(*other)):", "if False:"),
    "elements of arrays are stable": ("_compiler/inlining.py", "return isinstance(node.slice, ast.Slice) and all(", "return all("),
    "calls are stable": ("_compiler/inlining.py", "return not isinstance(node, ast.Call) and all(", "return all("),
    "parameters that are bound keep the argument's name": ("_compiler/inlining.py", "isinstance(argument, ast.Name) and parameter not in bound", "isinstance(argument, ast.Name)"),
    "or as and": ("_compiler/inlining.py", "if isinstance(node.op, ast.Or) else test", "if False else test"),
    "a tuple of names that change each other": ("_compiler/inlining.py", "or names & _bound([target])", "or False"),
    "constants are folded": ("_compiler/inlining.py", "if isinstance(result, ast.Constant):  # which", "if False:  # which"),
    "globals under a local's name": ("_compiler/inlining.py", "while choice in self._locals or self._globals", "while self._globals"),
    "what follows a return is lost": ("_compiler/inlining.py", "whole = block if _ends(block) else [*block, *rest]", "whole = block"),
}  # fmt: skip


WHICH = {
    **dict.fromkeys(MUTANTS, "sampler"),
    **dict.fromkeys(SELECTION, "selection"),
    **dict.fromkeys(ROWS, "rows"),
    **dict.fromkeys(NUMBERS, "numbers"),
    **dict.fromkeys(RECORDS, "records"),
    **dict.fromkeys(LAPLACE, "laplace"),
    **dict.fromkeys(STUDIES, "studies"),
    **dict.fromkeys(GROUPS, "groups"),
    **dict.fromkeys(KEYS, "keys"),
    **dict.fromkeys(INLINING, "inlining"),
}


ALL = (MUTANTS, SELECTION, ROWS, NUMBERS, RECORDS, LAPLACE, STUDIES, GROUPS, KEYS, INLINING)


def row(name: str) -> tuple[str, str, str]:
    """The file below the package, the text that is changed, and what it becomes."""
    return next(group[name] for group in ALL if name in group)


@pytest.fixture(scope="module")
def jury():
    """A process that forks a child for every mutant it is asked about."""
    with Jury(sorted(set(WHICH.values()))) as asked:
        yield asked


@pytest.mark.parametrize("name", WHICH)
def test_what_a_mutant_changes_is_there(name):
    path, old, new = row(name)
    assert old in (ROOT / "fastexp" / path).read_text(), f"the text to change is gone from {path}"
    assert old != new


@pytest.mark.process
@pytest.mark.proof
@pytest.mark.parametrize("checks", sorted(set(WHICH.values())))
def test_the_package_itself_survives(jury, checks):
    status, message = jury.verdict(checks, "__init__.py", "import", "import")  # as mutants are read
    assert status == 0, message


@pytest.mark.process
@pytest.mark.proof
@pytest.mark.parametrize("name", WHICH)
def test_a_mutant_is_killed(jury, name):
    path, old, new = row(name)
    status, message = jury.verdict(WHICH[name], path, old, new)
    assert status == 1, (status, message)
    assert "Traceback" in message  # by a failing check, not by a missing interpreter
    assert "SyntaxError" not in message
    assert "ImportError" not in message
