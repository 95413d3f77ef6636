from . import errors as errors
from .laws.intervals import median_utilities as median_utilities
from .laws.weights import log_normalizer as log_normalizer
from .laws.weights import probabilities as probabilities
from .mechanisms.candidates import Exponential as Exponential
from .mechanisms.numbers import Median as Median
from .mechanisms.numbers import Quantile as Quantile
from .mechanisms.quantiles import Quantiles as Quantiles
from .privacy.guarantee import Guarantee as Guarantee

__version__: str
