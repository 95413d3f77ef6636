from . import errors as errors
from .data.digits import digits as digits
from .laws.intervals import median_utilities as median_utilities
from .laws.weights import log_normalizer as log_normalizer
from .laws.weights import probabilities as probabilities
from .mechanisms.candidates import Exponential as Exponential
from .mechanisms.candidates import MostCommon as MostCommon
from .mechanisms.candidates import PermuteAndFlip as PermuteAndFlip
from .mechanisms.numbers import Median as Median
from .mechanisms.top_k import TopK as TopK
from .privacy.guarantee import Guarantee as Guarantee

__version__: str
