"""The one style of pictures, what is drawn of numbers and laws, and cards of facts."""
