"""Writes the reference of the config as a page, from the JSON Schema that `unshuffle schema` prints.

usage: unshuffle schema | config_reference.py > config.md
"""

import json
import sys


def main():
    schema = json.load(sys.stdin)
    definitions = schema.get("$defs", {})
    print("# Config reference\n")
    print(f"{schema.get('description', '')}\n")
    print("Made from the JSON Schema that `unshuffle schema` prints, which editors understand too.\n")
    section("The config", schema, definitions)
    for name, definition in definitions.items():
        print(f"## {heading(name)}\n")
        if definition.get("description"):
            print(f"{one_line(definition['description'])}\n")
        section(None, definition, definitions)


def section(title, schema, definitions):
    """The keys of an object, or the choices that a value has."""
    if title:
        print(f"## {title}\n")
    if schema.get("properties"):
        keys(schema, definitions)
    choices = schema.get("oneOf") or schema.get("anyOf") or []
    for choice in choices:
        name = choice.get("const") or choice.get("properties", {}).get("name", {}).get("const")
        words = one_line(choice.get("description", ""))
        print(f"- {f'`{name}`' if name else kind(choice)}{': ' + words if words else ''}")
        for key, entry in choice.get("properties", {}).items():
            if key != "name":
                print(f"    - `{key}` ({kind(entry)}): {one_line(entry.get('description', ''))}{default(entry)}")
    if choices:
        print()
    elif "enum" in schema:
        print(", ".join(f"`{value}`" for value in schema["enum"]) + "\n")


def keys(schema, definitions):
    required = schema.get("required", [])
    print("| key | kind | meaning | default |\n|---|---|---|---|")
    for key, entry in schema["properties"].items():
        needed = " (needed)" if key in required else ""
        words = one_line(entry.get("description", "")).replace("|", "\\|")
        print(f"| `{key}`{needed} | {kind(entry)} | {words} | {shown(entry.get('default'))} |")
    print()


def kind(entry):
    """The type in words; a definition as a link to its section."""
    if "$ref" in entry:
        name = heading(entry["$ref"].rsplit("/", 1)[1])
        return f"[{name}](#{name.lower()})"
    if "const" in entry:
        return f"`{entry['const']}`"
    if "anyOf" in entry or "oneOf" in entry:
        kinds = [kind(e) for e in entry.get("anyOf") or entry["oneOf"] if e.get("type") != "null"]
        return " or ".join(dict.fromkeys(kinds))
    types = entry.get("type", "any value")
    types = [types] if isinstance(types, str) else [t for t in types if t != "null"]
    if types == ["array"] and isinstance(entry.get("items"), dict):
        return f"list of {kind(entry['items'])}"
    return " or ".join(types)


def heading(definition):
    """Configs as typed have types of their own, which users need not know."""
    return definition.removeprefix("Raw")


def default(entry):
    return f" Default {shown(entry['default'])}." if entry.get("default") is not None else ""


def shown(value):
    """Defaults that are whole objects are listed in their own section."""
    return "" if value is None or isinstance(value, dict) else f"`{json.dumps(value)}`"


def one_line(text):
    return " ".join(text.split())


main()
