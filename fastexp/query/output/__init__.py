"""A file of answers, which is written completely or not at all."""
