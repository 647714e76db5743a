"""The page that tells administrators how the platform is."""
