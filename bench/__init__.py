"""Speed, measured side by side: the published case studies, group types, start-up, and other programs."""
