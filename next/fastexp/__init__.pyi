from . import errors as errors
from . import privacy as privacy
from .checks.audit import audit as audit
from .checks.sensitivity import check_sensitivity as check_sensitivity
from .data.digits import digits as digits
from .laws.intervals import median_utilities as median_utilities
from .laws.prices import revenue as revenue
from .laws.weights import log_normalizer as log_normalizer
from .laws.weights import probabilities as probabilities
from .mechanisms.accuracy import expected_errors as expected_errors
from .mechanisms.bounds import error_bound as error_bound
from .mechanisms.bounds import loss_bound as loss_bound
from .mechanisms.candidates import Exponential as Exponential
from .mechanisms.candidates import MostCommon as MostCommon
from .mechanisms.candidates import PermuteAndFlip as PermuteAndFlip
from .mechanisms.laplace import Laplace as Laplace
from .mechanisms.numbers import Median as Median
from .mechanisms.numbers import Quantile as Quantile
from .mechanisms.price import Price as Price
from .mechanisms.quantiles import Quantiles as Quantiles
from .mechanisms.response import RandomizedResponse as RandomizedResponse
from .mechanisms.smooth import SmoothSensitivityMedian as SmoothSensitivityMedian
from .mechanisms.smooth import smooth_sensitivity as smooth_sensitivity
from .mechanisms.top_k import TopK as TopK
from .privacy.budget import Budget as Budget
from .privacy.guarantee import Guarantee as Guarantee

__version__: str
