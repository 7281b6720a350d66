"""The dashboard: pages for browsers about what a controller does, at `/ui/`. The pages only read.

Pages ask views, and hold no rule of their own. They read without JavaScript; one module loads a page again
after changes. docs/explanation/security.md says what protects them.
"""
