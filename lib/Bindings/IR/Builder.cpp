//===- Builder.cpp - One generic builder over MLIR's C API ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Ops are built by name: attributes and types are given as MLIR text, parsed
// once a builder and cached. There is no per-op binding, so a new op needs no
// change here. docs/adr/0003 says why.
//===----------------------------------------------------------------------===//

#include "Bindings/Modules.h"
#include "Waiting.h"
#include "mlir-c/IR.h"

#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"
#include "mlir-c/Diagnostics.h"
#include "terrazzo-c/Compiler.h"
#include "terrazzo-c/Dialects.h"

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace py = pybind11;

namespace {

MlirStringRef textRef(const std::string &text) {
  return mlirStringRefCreate(text.data(), text.size());
}

void appendTo(MlirStringRef text, void *out) {
  static_cast<std::string *>(out)->append(text.data, text.length);
}

/// A diagnostic that the compiler emitted, first error first.
struct Message {
  std::string text, file;
  int64_t line = 0, column = 0;
};

/// Finds the innermost file location: of a call-site chain, the callee.
bool findFile(MlirLocation location, Message &message) {
  if (mlirLocationIsAFileLineColRange(location)) {
    MlirIdentifier file = mlirLocationFileLineColRangeGetFilename(location);
    MlirStringRef name = mlirIdentifierStr(file);
    message.file.assign(name.data, name.length);
    message.line = mlirLocationFileLineColRangeGetStartLine(location);
    message.column = mlirLocationFileLineColRangeGetStartColumn(location);
    return true;
  }
  if (mlirLocationIsACallSite(location))
    return findFile(mlirLocationCallSiteGetCallee(location), message);
  if (mlirLocationIsAName(location))
    return findFile(mlirLocationNameGetChildLoc(location), message);
  if (mlirLocationIsAFused(location)) {
    unsigned count = mlirLocationFusedGetNumLocations(location);
    std::vector<MlirLocation> parts(count);
    mlirLocationFusedGetLocations(location, parts.data());
    for (MlirLocation part : parts)
      if (findFile(part, message))
        return true;
  }
  return false;
}

void collectMessage(MlirDiagnostic diagnostic, std::vector<Message> &out) {
  Message message;
  mlirDiagnosticPrint(diagnostic, appendTo, &message.text);
  findFile(mlirDiagnosticGetLocation(diagnostic), message);
  out.push_back(std::move(message));
  for (intptr_t i = 0, n = mlirDiagnosticGetNumNotes(diagnostic); i < n; ++i)
    collectMessage(mlirDiagnosticGetNote(diagnostic, i), out);
}

/// While it lives, diagnostics are kept instead of printed.
class Diagnostics {
public:
  explicit Diagnostics(MlirContext context) : context(context) {
    id = mlirContextAttachDiagnosticHandler(
        context,
        [](MlirDiagnostic diagnostic, void *self) {
          if (mlirDiagnosticGetSeverity(diagnostic) == MlirDiagnosticError)
            collectMessage(diagnostic,
                           static_cast<Diagnostics *>(self)->messages);
          return mlirLogicalResultSuccess();
        },
        this, nullptr);
  }
  ~Diagnostics() { mlirContextDetachDiagnosticHandler(context, id); }
  Diagnostics(const Diagnostics &) = delete;
  Diagnostics &operator=(const Diagnostics &) = delete;

  [[noreturn]] void raise(const std::string &fallback) const {
    Message first;
    first.text = fallback;
    if (!messages.empty())
      first = messages.front();
    for (size_t i = 1; i < messages.size(); ++i)
      first.text += "\n" + messages[i].text;
    py::object type = py::module_::import("terrazzo._terrazzo")
                          .attr("ir")
                          .attr("DiagnosticError");
    py::object error = type(first.text);
    error.attr("message") = first.text;
    error.attr("file") = first.file.empty() ? py::object(py::none())
                                            : py::object(py::str(first.file));
    error.attr("line") = first.line;
    error.attr("col") = first.column;
    PyErr_SetObject(type.ptr(), error.ptr());
    throw py::error_already_set();
  }

private:
  MlirContext context;
  MlirDiagnosticHandlerID id;
  std::vector<Message> messages;
};

/// A context with one module under construction.
struct State {
  MlirContext context;
  MlirModule module;
  MlirLocation location;
  MlirBlock block{nullptr};
  std::unordered_map<std::string, MlirType> types;
  std::unordered_map<std::string, MlirAttribute> attributes;
  std::unordered_map<const void *, std::string> typeTexts;

  State() {
    context = mlirContextCreateWithThreading(false);
    MlirDialectRegistry registry = mlirDialectRegistryCreate();
    tzRegisterDialects(registry);
    mlirContextAppendDialectRegistry(context, registry);
    mlirDialectRegistryDestroy(registry);
    mlirContextLoadAllAvailableDialects(context);
    location = mlirLocationUnknownGet(context);
    module = mlirModuleCreateEmpty(location);
    block = mlirModuleGetBody(module);
  }
  ~State() {
    mlirModuleDestroy(module);
    mlirContextDestroy(context);
  }
  State(const State &) = delete;
  State &operator=(const State &) = delete;

  MlirType type(const std::string &text) {
    auto [it, isNew] = types.try_emplace(text);
    if (!isNew)
      return it->second;
    Diagnostics diagnostics(context);
    MlirType parsed = tzTypeParseGet(context, textRef(text));
    if (mlirTypeIsNull(parsed)) {
      types.erase(it);
      diagnostics.raise("not a type: " + text);
    }
    return it->second = parsed;
  }

  MlirAttribute attribute(const std::string &text) {
    auto [it, isNew] = attributes.try_emplace(text);
    if (!isNew)
      return it->second;
    Diagnostics diagnostics(context);
    MlirAttribute parsed = tzAttributeParseGet(context, textRef(text));
    if (mlirAttributeIsNull(parsed)) {
      attributes.erase(it);
      diagnostics.raise("not an attribute: " + text);
    }
    return it->second = parsed;
  }

  MlirNamedAttribute named(const std::string &name, MlirAttribute attr) {
    return mlirNamedAttributeGet(mlirIdentifierGet(context, textRef(name)),
                                 attr);
  }
};
using StateRef = std::shared_ptr<State>;

// Handles keep the context alive: Python may drop the builder first.
struct PyValue {
  StateRef state;
  MlirValue value;
  const std::string &typeText() const {
    MlirType type = mlirValueGetType(value);
    auto [it, isNew] = state->typeTexts.try_emplace(type.ptr);
    if (isNew)
      mlirTypePrint(type, appendTo, &it->second);
    return it->second;
  }
};
struct PyBlock {
  StateRef state;
  MlirBlock block;
};
struct PyRegion {
  StateRef state;
  MlirRegion region;
};
struct PyOperation {
  StateRef state;
  MlirOperation op;
};

class Builder {
public:
  Builder() : state(std::make_shared<State>()) {}

  void setLocation(const std::string &file, int line, int column,
                   const std::string &name) {
    MlirLocation location = mlirLocationFileLineColGet(
        state->context, textRef(file), std::max(line, 0), std::max(column, 0));
    if (!name.empty())
      location = mlirLocationNameGet(state->context, textRef(name), location);
    state->location = location;
  }

  PyOperation create(const std::string &name,
                     const std::vector<PyValue> &operands,
                     const std::map<std::string, std::string> &attributes,
                     const std::optional<std::vector<std::string>> &results,
                     int regions) {
    MlirOperationState op =
        mlirOperationStateGet(textRef(name), state->location);
    std::vector<MlirValue> values;
    values.reserve(operands.size());
    for (const PyValue &operand : operands)
      values.push_back(operand.value);
    mlirOperationStateAddOperands(&op, values.size(), values.data());
    std::vector<MlirNamedAttribute> attrs;
    attrs.reserve(attributes.size());
    for (const auto &[key, text] : attributes)
      attrs.push_back(state->named(key, state->attribute(text)));
    mlirOperationStateAddAttributes(&op, attrs.size(), attrs.data());
    std::vector<MlirType> types;
    if (results) {
      for (const std::string &text : *results)
        types.push_back(state->type(text));
      mlirOperationStateAddResults(&op, types.size(), types.data());
    } else {
      mlirOperationStateEnableResultTypeInference(&op);
    }
    std::vector<MlirRegion> owned;
    owned.reserve(regions);
    for (int i = 0; i < regions; ++i)
      owned.push_back(mlirRegionCreate());
    mlirOperationStateAddOwnedRegions(&op, owned.size(), owned.data());

    Diagnostics diagnostics(state->context);
    MlirOperation created = mlirOperationCreate(&op);
    if (mlirOperationIsNull(created))
      diagnostics.raise("'" + name + "' op could not be built");
    mlirBlockAppendOwnedOperation(state->block, created);
    // An op with regions is verified with the module: its body comes later.
    if (regions == 0 && !mlirOperationVerify(created)) {
      mlirOperationDestroy(created);
      diagnostics.raise("'" + name + "' op is not valid");
    }
    return {state, created};
  }

  void setModuleAttribute(const std::string &name, const std::string &text) {
    mlirOperationSetAttributeByName(mlirModuleGetOperation(state->module),
                                    textRef(name), state->attribute(text));
  }

  PyBlock appendBlock(const PyRegion &region,
                      const std::vector<std::string> &argTypes) {
    std::vector<MlirType> types;
    types.reserve(argTypes.size());
    for (const std::string &text : argTypes)
      types.push_back(state->type(text));
    std::vector<MlirLocation> locations(types.size(), state->location);
    MlirBlock block =
        mlirBlockCreate(types.size(), types.data(), locations.data());
    mlirRegionAppendOwnedBlock(region.region, block);
    return {state, block};
  }

  PyBlock
  func(const std::string &name, const std::vector<std::string> &argTypes,
       const std::vector<std::map<std::string, std::string>> &argAttrs) {
    std::string type = "(";
    for (size_t i = 0; i < argTypes.size(); ++i)
      type += (i ? ", " : "") + argTypes[i];
    std::vector<MlirAttribute> dicts;
    for (const auto &attrs : argAttrs) {
      std::vector<MlirNamedAttribute> named;
      named.reserve(attrs.size());
      for (const auto &[key, text] : attrs)
        named.push_back(state->named(key, state->attribute(text)));
      dicts.push_back(
          mlirDictionaryAttrGet(state->context, named.size(), named.data()));
    }
    while (dicts.size() < argTypes.size())
      dicts.push_back(mlirDictionaryAttrGet(state->context, 0, nullptr));
    MlirNamedAttribute attrs[] = {
        state->named("sym_name",
                     mlirStringAttrGet(state->context, textRef(name))),
        state->named("function_type",
                     mlirTypeAttrGet(state->type(type + ") -> ()"))),
        state->named("arg_attrs", mlirArrayAttrGet(state->context, dicts.size(),
                                                   dicts.data())),
        state->named("tile.kernel", mlirUnitAttrGet(state->context))};
    std::string opName = "func.func";
    MlirOperationState op =
        mlirOperationStateGet(textRef(opName), state->location);
    mlirOperationStateAddAttributes(&op, 4, attrs);
    MlirRegion region = mlirRegionCreate();
    mlirOperationStateAddOwnedRegions(&op, 1, &region);
    MlirOperation created = mlirOperationCreate(&op);
    mlirBlockAppendOwnedOperation(mlirModuleGetBody(state->module), created);
    PyBlock entry =
        appendBlock({state, mlirOperationGetRegion(created, 0)}, argTypes);
    state->block = entry.block;
    return entry;
  }

  PyValue constant(MlirAttribute value, MlirType type) {
    MlirNamedAttribute attr = state->named("value", value);
    std::string name = "arith.constant";
    MlirOperationState op =
        mlirOperationStateGet(textRef(name), state->location);
    mlirOperationStateAddAttributes(&op, 1, &attr);
    mlirOperationStateAddResults(&op, 1, &type);
    MlirOperation created = mlirOperationCreate(&op);
    mlirBlockAppendOwnedOperation(state->block, created);
    return {state, mlirOperationGetResult(created, 0)};
  }

  PyValue constantInt(const py::int_ &value, const std::string &text) {
    MlirType type = state->type(text);
    bool isIndex = mlirTypeIsAIndex(type);
    if (!isIndex && !mlirTypeIsAInteger(type))
      throw py::value_error("constant_int needs an integer type, got " + text);
    unsigned width = isIndex ? 64 : mlirIntegerTypeGetWidth(type);
    // Reduced to the width, as two's complement, so that every value parses.
    py::int_ modulus = py::int_(1) << py::int_(width);
    py::object bits = value.attr("__mod__")(modulus);
    if (width > 1 &&
        bits.attr("__ge__")(py::int_(1) << py::int_(width - 1)).cast<bool>())
      bits = bits.attr("__sub__")(modulus);
    if (width == 1)
      return constant(mlirIntegerAttrGet(type, bits.cast<int64_t>() ? -1 : 0),
                      type);
    return constant(mlirIntegerAttrGet(type, bits.cast<int64_t>()), type);
  }

  PyValue constantFloat(double value, const std::string &text) {
    MlirType type = state->type(text);
    if (!mlirTypeIsAFloat(type))
      throw py::value_error("constant_float needs a float type, got " + text);
    return constant(mlirFloatAttrDoubleGet(state->context, type, value), type);
  }

  void verify() {
    Diagnostics diagnostics(state->context);
    if (!mlirOperationVerify(mlirModuleGetOperation(state->module)))
      diagnostics.raise("the module is not valid");
  }

  std::string str(bool debug) {
    std::string text;
    MlirOpPrintingFlags flags = mlirOpPrintingFlagsCreate();
    if (debug)
      mlirOpPrintingFlagsEnableDebugInfo(flags, true, false);
    mlirOpPrintingFlagsAssumeVerified(flags);
    mlirOperationPrintWithFlags(mlirModuleGetOperation(state->module), flags,
                                appendTo, &text);
    mlirOpPrintingFlagsDestroy(flags);
    return text;
  }

  StateRef state;
};

/// What one compile reads and leaves, shared with the thread that does it.
struct Compile {
  StateRef state;
  std::string text; ///< the module, unless the state has it already
  std::string target, stages;
  Diagnostics diagnostics;
  std::string bytes;
  bool succeeded = false;
  const char *failure = nullptr;

  Compile(StateRef given, std::string text, std::string target,
          std::string stages)
      : state(std::move(given)), text(std::move(text)),
        target(std::move(target)), stages(std::move(stages)),
        diagnostics(state->context) {}

  void run(const terrazzo::bindings::StopFlag &stop) {
    if (!text.empty()) {
      failure = "the module does not parse";
      MlirModule parsed = tzModuleCreateParse(state->context, textRef(text));
      if (mlirModuleIsNull(parsed))
        return;
      mlirModuleDestroy(state->module);
      state->module = parsed;
    }
    failure = "compilation failed";
    succeeded = mlirLogicalResultIsSuccess(
        tzCompile(state->module, textRef(target), textRef(stages), &stop,
                  appendTo, &bytes));
  }
};

/// Compiles a builder's module, or module text.
py::bytes compile(const py::object &source, const std::string &target,
                  const std::string &stages) {
  StateRef state;
  std::string text;
  if (py::isinstance<Builder>(source)) {
    state = source.cast<Builder &>().state;
  } else {
    text = source.cast<std::string>();
    state = std::make_shared<State>();
  }
  auto job = std::make_shared<Compile>(state, text, target, stages);
  terrazzo::bindings::interruptibly(
      [job](const terrazzo::bindings::StopFlag &stop) { job->run(stop); });
  if (!job->succeeded)
    job->diagnostics.raise(job->failure);
  return py::bytes(job->bytes);
}

/// An enumeration of the dialects, {case: text of its attribute}.
std::map<std::string, std::string> enumAttributes(const std::string &name) {
  std::map<std::string, std::string> found;
  auto add = [](MlirStringRef enumCase, MlirStringRef attribute, void *out) {
    static_cast<std::map<std::string, std::string> *>(out)->emplace(
        std::string(enumCase.data, enumCase.length),
        std::string(attribute.data, attribute.length));
  };
  if (mlirLogicalResultIsFailure(tzEnumForEachCase(textRef(name), add, &found)))
    throw py::value_error("there is no enumeration '" + name + "'");
  return found;
}

} // namespace

static void bindValue(py::module_ &m) {
  py::class_<PyValue>(m, "Value")
      .def_property_readonly(
          "type", [](const PyValue &v) { return v.typeText(); },
          "The type as MLIR text.")
      .def("replace_all_uses_with",
           [](const PyValue &v, const PyValue &with) {
             mlirValueReplaceAllUsesOfWith(v.value, with.value);
           })
      .def("__eq__",
           [](const PyValue &a, const py::object &other) {
             return py::isinstance<PyValue>(other) &&
                    mlirValueEqual(a.value, other.cast<PyValue &>().value);
           })
      .def("__hash__",
           [](const PyValue &v) {
             return reinterpret_cast<intptr_t>(v.value.ptr);
           })
      .def("__repr__", [](const PyValue &v) {
        return "<ir.Value of type " + v.typeText() + ">";
      });
}

static void bindBlock(py::module_ &m) {
  py::class_<PyBlock>(m, "Block")
      .def_property_readonly(
          "args",
          [](const PyBlock &b) {
            std::vector<PyValue> args;
            for (intptr_t i = 0, n = mlirBlockGetNumArguments(b.block); i < n;
                 ++i)
              args.push_back({b.state, mlirBlockGetArgument(b.block, i)});
            return args;
          })
      .def(
          "add_arg",
          [](const PyBlock &block, const std::string &type) {
            return PyValue{block.state,
                           mlirBlockAddArgument(block.block,
                                                block.state->type(type),
                                                block.state->location)};
          },
          "Appends an argument of a type and gives it.");
  py::class_<PyRegion>(m, "Region")
      .def(
          "take_body",
          [](const PyRegion &r, const PyRegion &from) {
            mlirRegionTakeBody(r.region, from.region);
          },
          "Moves the blocks of another region here; what was here is gone. "
          "The results of a branch are known only when both sides are built.");
}

static void bindOperation(py::module_ &m) {
  py::class_<PyOperation>(m, "Operation")
      .def_property_readonly(
          "results",
          [](const PyOperation &o) {
            std::vector<PyValue> results;
            for (intptr_t i = 0, n = mlirOperationGetNumResults(o.op); i < n;
                 ++i)
              results.push_back({o.state, mlirOperationGetResult(o.op, i)});
            return results;
          })
      .def_property_readonly(
          "result",
          [](const PyOperation &o) {
            if (mlirOperationGetNumResults(o.op) != 1)
              throw py::value_error(
                  "the operation has " +
                  std::to_string(mlirOperationGetNumResults(o.op)) +
                  " results, expected 1");
            return PyValue{o.state, mlirOperationGetResult(o.op, 0)};
          })
      .def_property_readonly("name",
                             [](const PyOperation &o) {
                               MlirStringRef name = mlirIdentifierStr(
                                   mlirOperationGetName(o.op));
                               return std::string(name.data, name.length);
                             })
      .def("region",
           [](const PyOperation &o, intptr_t i) {
             if (i < 0 || i >= mlirOperationGetNumRegions(o.op))
               throw py::index_error("no region " + std::to_string(i));
             return PyRegion{o.state, mlirOperationGetRegion(o.op, i)};
           })
      .def("set_attr",
           [](const PyOperation &o, const std::string &name,
              const std::string &text) {
             mlirOperationSetAttributeByName(o.op, textRef(name),
                                             o.state->attribute(text));
           })
      .def("erase", [](const PyOperation &o) { mlirOperationDestroy(o.op); });
}

void bindIr(py::module_ &m) {
  m.attr("DiagnosticError") = py::reinterpret_steal<py::object>(
      PyErr_NewException("terrazzo._terrazzo.ir.DiagnosticError",
                         PyExc_RuntimeError, nullptr));
  bindValue(m);
  bindBlock(m);
  bindOperation(m);
  py::class_<Builder>(m, "Builder")
      .def(py::init<>())
      .def("set_loc", &Builder::setLocation, py::arg("file"), py::arg("line"),
           py::arg("col") = 0, py::arg("name") = "")
      .def("create", &Builder::create, py::arg("name"),
           py::arg("operands") = std::vector<PyValue>(),
           py::arg("attributes") = std::map<std::string, std::string>(),
           py::arg("result_types") = py::none(), py::arg("regions") = 0)
      .def("set_module_attr", &Builder::setModuleAttribute, py::arg("name"),
           py::arg("value"))
      .def("append_block", &Builder::appendBlock, py::arg("region"),
           py::arg("arg_types") = std::vector<std::string>())
      .def("func", &Builder::func, py::arg("name"), py::arg("arg_types"),
           py::arg("arg_attrs") =
               std::vector<std::map<std::string, std::string>>())
      .def_property_readonly(
          "insertion_point",
          [](const Builder &b) { return PyBlock{b.state, b.state->block}; })
      .def("set_insertion_point_to_end",
           [](Builder &b, const PyBlock &block) {
             b.state->block = block.block;
           })
      .def("constant_int", &Builder::constantInt)
      .def("constant_float", &Builder::constantFloat)
      .def("verify", &Builder::verify)
      .def("str", &Builder::str, py::arg("debug") = false);
  m.def("compile", &compile, py::arg("source"), py::arg("target"),
        py::arg("stages") = "",
        "Compiles a Builder's module or module text; returns the bytes of an "
        "artifact. Raises DiagnosticError.");
  m.def("enum_attributes", &enumAttributes, py::arg("name"),
        "The text of the attribute of each case of an enumeration of the "
        "dialects, by the case's name.");
  auto asString = [](void (*get)(MlirStringCallback, void *)) {
    return [get] {
      std::string text;
      get(appendTo, &text);
      return text;
    };
  };
  m.def("host_chip", asString(tzHostChip));
  m.def("fingerprint", asString(tzCompilerFingerprint));
  m.def("pipeline", [](const std::string &target) {
    std::string text;
    tzPipeline(textRef(target), appendTo, &text);
    return text;
  });
}
