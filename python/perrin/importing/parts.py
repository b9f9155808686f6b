"""Jobs in parts: a job has one set of forces, so that a script that changes them makes several."""


def folder_of(part):
    """Of the output of a part."""
    return "out" if part == 1 else f"out-{part}"


def continued(part, velocities):
    """The system of a part after the first: the last frame of the one before."""
    made = {"type": "file", "path": f"{folder_of(part - 1)}/end.h5"}
    return made if velocities else {**made, "velocities": False}


def with_end(job):
    """Adds to a part that another follows: a stage without steps that writes the last frame."""
    stage = job["stages"][-1]
    step = stage.get("integrator") or (stage.get("integrators") or [{}])[0]
    job["stages"] = [*job["stages"], {"type": "md", "name": "end", "steps": 0, "integrator": {
        "type": "velocity_verlet", "timestep": step.get("timestep", 0.001)}}]
    job["observers"].append({
        "type": "trajectory", "file": "end.h5", "stride": 1, "stages": ["end"],
        "schedule": {"steps": [0]}, "precision": "double",
        "quantities": ["position", "velocity", "image", *(
            ["orientation", "angular_momentum"] if "orientations" in job else [])]})
