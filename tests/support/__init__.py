"""What tests share: cases, frames, statistics."""
