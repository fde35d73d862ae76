// Carries the precompiled header (cmake/pch.h).
