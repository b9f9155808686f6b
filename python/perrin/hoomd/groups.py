"""Filters of HOOMD-blue as groups of a job."""
from perrin.hoomd.bodies import moves_all
from perrin.hoomd.values import Thing, Unknown
from perrin.importing.lines import NotUnderstood


class Groups:
    """A part of perrin.hoomd.convert.Script, whose members it uses."""

    def group(self, filter):
        """The name of the group of a filter; "all" where it is everything."""
        if filter is None:
            return "all"
        if isinstance(filter, Unknown):
            raise NotUnderstood(f"filter: {filter.reason}", filter.line)
        if not isinstance(filter, Thing) or filter.family != "hoomd.filter":
            raise NotUnderstood("filter: expected a filter of hoomd.filter")
        if filter.kind == "All" or filter.kind == "Rigid" and moves_all(filter, self):
            return "all"
        made = self.definition(filter)
        for name, other in self.groups.items():
            if other == made:
                self.use(name)
                return name
        name = self.group_name(filter, made)
        self.groups[name] = made
        self.use(name)
        return name

    def definition(self, filter):
        if filter.kind == "Type":
            return {"types": [str(t) for t in filter.get("types")]}
        if filter.kind == "Tags":
            return {"ids": ranges(sorted({int(t) for t in filter.get("tags")}))}
        if filter.kind in ("SetDifference", "Union", "Intersection"):
            f, g = (self.group(filter.get(k)) for k in "fg")
            if filter.kind == "SetDifference":
                return {"not": [g]} if f == "all" else {"and": [f], "not": [g]}
            return {"or" if filter.kind == "Union" else "and": [f, g]}
        raise NotUnderstood(f"the filter {filter.kind}", filter.line)

    def group_name(self, filter, made):
        stem = "-".join(made["types"]) if filter.kind == "Type" else \
            {"Tags": "tags", "SetDifference": "rest", "Union": "union",
             "Intersection": "both"}[filter.kind]
        name, n = stem, 1
        while name in self.groups or name == "all":
            n += 1
            name = f"{stem}-{n}"
        return name

    def use(self, name):
        if name == "all" or name in self.used_groups:
            return
        for key in ("and", "or", "not"):
            for other in self.groups[name].get(key, []):
                self.use(other)
        self.used_groups[name] = self.groups[name]

    def on(self, force, thing):
        """A force with the group of a thing's filter."""
        name = self.group(thing.get("filter"))
        return force if name == "all" else {**force, "on": name}


def ranges(numbers):
    """[1, 2, 3, 7] as [[1, 3], 7]."""
    made = []
    for k in numbers:
        if made and made[-1][1] == k - 1:
            made[-1][1] = k
        else:
            made.append([k, k])
    return [a if a == b else [a, b] for a, b in made]
