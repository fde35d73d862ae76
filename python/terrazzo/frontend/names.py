# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Which names a piece of syntax reads and assigns."""

import ast

_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp)


def is_name(node, ident):
    """Whether a node is a plain reference to `ident`."""
    return isinstance(node, ast.Name) and node.id == ident


def element_base(target):
    """The name x of a target x[...] at any depth, else None."""
    while isinstance(target, ast.Subscript):
        target = target.value
    return target.id if isinstance(target, ast.Name) else None


def target_names(target):
    """The names that an assignment to `target` binds; x[i] = v binds x anew, since tiles are values."""
    if isinstance(target, ast.Name):
        return [target.id]
    if isinstance(target, (ast.Tuple, ast.List)):
        return [name for element in target.elts for name in target_names(element)]
    if isinstance(target, ast.Starred):
        return target_names(target.value)
    if isinstance(target, ast.Subscript):
        base = element_base(target)
        return [] if base is None else [base]
    return []


def expression_nodes(node):
    """All nodes of an expression, without the bodies of lambdas."""
    todo = [node]
    while todo:
        current = todo.pop()
        yield current
        if not isinstance(current, _SCOPES):
            todo.extend(ast.iter_child_nodes(current))


def walrus_names(node):
    """The names that `:=` binds in an expression."""
    return [n.target.id for n in expression_nodes(node) if isinstance(n, ast.NamedExpr)]


def statement_expressions(statement):
    """The expressions of a statement itself, not of the statements in its body."""
    for _, value in ast.iter_fields(statement):
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.expr):
                yield child
            elif isinstance(child, ast.withitem):
                yield child.context_expr
                if child.optional_vars is not None:
                    yield child.optional_vars


def own_bindings(statement):
    """The names that a statement binds by itself, bodies left out."""
    names = []
    if isinstance(statement, ast.Assign):
        names += [n for target in statement.targets for n in target_names(target)]
    elif isinstance(statement, (ast.AugAssign, ast.For)):
        names += target_names(statement.target)
    elif isinstance(statement, ast.AnnAssign):
        names += target_names(statement.target) if statement.value is not None else []
    elif isinstance(statement, ast.With):
        names += [n for item in statement.items if item.optional_vars for n in target_names(item.optional_vars)]
    elif isinstance(statement, _SCOPES):
        return [statement.name]
    elif isinstance(statement, ast.Delete):
        names += [n for target in statement.targets for n in target_names(target)]
    for expression in statement_expressions(statement):
        names += walrus_names(expression)
    return names


def bodies(statement):
    """The lists of statements inside a statement that run in the same scope."""
    if isinstance(statement, _SCOPES):
        return []
    return [block for name in ("body", "orelse", "finalbody") if (block := getattr(statement, name, None))]


def all_statements(statements):
    """The statements and all inside them that run in the same scope."""
    todo = list(statements)
    while todo:
        statement = todo.pop()
        yield statement
        for body in bodies(statement):
            todo.extend(body)


def bindings(statements):
    """The names that statements bind, those in nested bodies too."""
    return {name for statement in all_statements(statements) for name in own_bindings(statement)}


def reads(node):
    """The names that an expression may read, those in lambdas and comprehensions too."""
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}


def captured(function):
    """The names that functions and lambdas nested in `function` read: they may be read wherever those are called."""
    found = set()
    for node in ast.walk(function):
        if node is not function and isinstance(node, _SCOPES):
            found |= {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}
    return found


def jumps(statements, loop_level=True):
    """Which of "break", "continue" and "return" statements can do to the code around them."""
    found = set()
    for statement in statements:
        if isinstance(statement, ast.Return):
            found.add("return")
        elif isinstance(statement, ast.Break) and loop_level:
            found.add("break")
        elif isinstance(statement, ast.Continue) and loop_level:
            found.add("continue")
        is_loop = isinstance(statement, (ast.For, ast.While))
        for body in bodies(statement):
            found |= jumps(body, loop_level and not (is_loop and body is statement.body))
    return found
