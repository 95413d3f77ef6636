"""Is the documentation true: its code, its links, its completeness?"""
