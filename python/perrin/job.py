"""The top level of a job, made from its schema."""
from perrin._schema import component_class, schema

Job = component_class("job", "Job", schema())
