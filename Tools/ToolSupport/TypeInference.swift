import Foundation
import TarnStore
package import TarnText

/// The type of an imported column, inferred from its values.
package indirect enum InferredType: Sendable, Equatable {
  case bool, int, double, decimal, date, string
  /// Values without a common type, such as lists and numbers.
  case any
  /// Arrays with elements of one type; whether an element is null.
  case list(InferredType, hasNull: Bool)
  /// Objects with different names each; whether a value is null.
  case map(InferredType, hasNull: Bool)
  /// Objects with the same names.
  case object([InferredColumn])
}

/// An inferred column.
package struct InferredColumn: Sendable, Equatable {
  package let name: String
  package let type: InferredType
  /// Whether a value was null or missing.
  package let isOptional: Bool
}

/// Infers the narrowest type of each column that accepts all values seen: bool, int, double,
/// decimal, date, otherwise string; ints and doubles together are doubles. JSON values of several
/// kinds make a mixed column: each value keeps its own type. A column without values is an optional
/// string.
///
/// No number loses digits: fractions that a Double does not hold (see `WrittenNumber`), together or
/// with whole numbers, make a decimal column, and beyond 34 digits a string column.
///
/// Text is treated conservatively, because a text that looks like a number may be a name: `007` and
/// `+1` are strings, because as numbers they would not be exported unchanged, and so is a whole
/// number beyond Int64. Text is a bool only as `true` or `false`. `NaN` and `Infinity` are numbers
/// only among numbers. A date is an instant, whatever offset it is written with.
///
/// JSON arrays are lists. JSON objects are embedded objects if most of them have the same names,
/// otherwise maps. Deeper nesting, such as arrays in arrays, is mixed.
package struct TypeInference: Sendable {
  /// With more names, they are keys of a map and not properties.
  static let namesMax = 100
  /// Deeper values are mixed.
  static let depthMax = 16

  private var names: [String] = []
  private var shapes: [ValueShape] = []
  private var indices: [String: Int] = [:]
  private var records = 0
  private let depth: Int

  package init() { self.init(depth: 0) }

  init(depth: Int) { self.depth = depth }

  /// The columns in order of first appearance.
  package var columns: [InferredColumn] {
    zip(names, shapes).map { name, shape in
      InferredColumn(
        name: name, type: shape.type, isOptional: shape.count == 0 || shape.count < records)
    }
  }

  /// Whether most records have each of the columns, and none has many.
  var isShape: Bool {
    !names.isEmpty && names.count <= Self.namesMax && shapes.allSatisfy { $0.count * 2 >= records }
      && names.allSatisfy {
        !$0.isEmpty && $0.firstASCII(".") == nil && !$0.beginsWithBytes(of: "$")
          && !$0.utf8.contains(0)
      }
  }

  var columnCount: Int { names.count }

  /// The common shape of all values of all columns; nil without columns.
  var common: ValueShape? {
    var common = shapes.first
    for shape in shapes.dropFirst() { common?.merge(shape) }
    return common
  }

  /// Adds all that the other one has seen.
  mutating func merge(_ other: TypeInference) {
    records += other.records
    for (name, shape) in zip(other.names, other.shapes) { shapes[index(of: name)].merge(shape) }
  }

  /// Adds a JSON record.
  package mutating func add(_ members: [JSONMember]) {
    records += 1
    for member in members { shapes[index(of: member.name)].add(member.value) }
  }

  /// Adds a CSV record.
  package mutating func add(_ names: [String], _ fields: [String?]) {
    records += 1
    for (name, field) in zip(names, fields) {
      let index = index(of: name)
      if let field { shapes[index].add(text: field) }
    }
  }

  /// Adds columns with these names, even without values.
  package mutating func expect(_ names: [String]) {
    for name in names { _ = index(of: name) }
  }

  private mutating func index(of name: String) -> Int {
    if let index = indices[name] { return index }
    indices[name] = names.count
    names.append(name)
    shapes.append(ValueShape(depth: depth))
    return names.count - 1
  }
}

/// The common shape of all values of one column, or of all elements of its lists.
struct ValueShape: Sendable {
  /// The types that all values so far allow, as bits.
  private struct Candidates: OptionSet {
    let rawValue: UInt8
    static let bool = Candidates(rawValue: 1)
    static let int = Candidates(rawValue: 2)
    static let double = Candidates(rawValue: 4)
    static let date = Candidates(rawValue: 8)
    static let decimal = Candidates(rawValue: 16)
    static let all: Candidates = [.bool, .int, .double, .date, .decimal]

    /// The types that hold an integer.
    static func holding(_ integer: Int64) -> Candidates {
      Double(exactly: integer) == nil ? [.int, .decimal] : [.int, .double, .decimal]
    }

    /// The types that hold another number.
    static func holding(_ text: String) -> Candidates {
      guard let written = WrittenNumber(text), let double = Double(text) else { return [] }
      let decimal: Candidates = DecimalNumber.parse(text)?.isExact == true ? .decimal : []
      return written.isHeld(by: double) ? decimal.union(.double) : decimal
    }
  }

  /// The kinds of JSON values seen, as bits.
  private struct Kinds: OptionSet {
    let rawValue: UInt8
    static let bool = Kinds(rawValue: 1)
    static let number = Kinds(rawValue: 2)
    static let string = Kinds(rawValue: 4)
  }

  private let depth: Int
  private var candidates = Candidates.all
  /// Whether there was a number with digits.
  private var hasNumber = false
  /// Whether a number had a fraction or an exponent.
  private var hasFraction = false
  /// Whether a text had a whole number beyond Int64: alone these are names.
  private var hasLongWhole = false
  private var kinds: Kinds = []
  /// Values that are neither null nor lists or objects.
  private var values = 0
  private var nulls = 0
  private var arrays = 0
  private var objects = 0
  /// An object with `$type`, as exports write them.
  private var isTyped = false
  /// The elements of arrays, or the values of objects with many names: one shape once there is one.
  private var inner: [ValueShape] = []
  /// The members of objects; empty once there are too many names, or too much nesting.
  private var members: [TypeInference]

  init(depth: Int) {
    self.depth = depth
    members = depth < TypeInference.depthMax ? [TypeInference(depth: depth + 1)] : []
  }

  /// The number of values that are not null.
  var count: Int { values + arrays + objects }

  mutating func add(_ value: JSONValue) {
    switch value {
    case .null: nulls += 1
    case .bool: narrow(to: .bool, .bool)
    case .integer(let number):
      hasNumber = true
      narrow(to: .holding(number), .number)
    // Reported when it is read as an int: one line does not decide for all.
    case .whole(let text):
      hasNumber = true
      narrow(to: Candidates.holding(text).union(.int), .number)
    case .double:
      (hasNumber, hasFraction) = (true, true)
      narrow(to: [.double, .decimal], .number)
    case .number(let text):
      (hasNumber, hasFraction) = (true, true)
      narrow(to: Candidates.holding(text), .number)
    case .string(let text):
      let isNumber = JSONText.nonFinite(named: text) != nil
      narrow(
        to: isNumber ? [.double, .decimal] : Timestamp(iso8601: text) != nil ? .date : [], .string)
    case .array(let items):
      arrays += 1
      for item in items { addInner(item) }
    case .object(let found):
      objects += 1
      if found.contains(where: { $0.name == "$type" }) { isTyped = true }
      if members.isEmpty {
        for member in found { addInner(member.value) }
      } else {
        members[0].add(found)
        if members[0].columnCount > TypeInference.namesMax { forgetNames() }
      }
    }
  }

  mutating func merge(_ other: ValueShape) {
    candidates.formIntersection(other.candidates)
    kinds.formUnion(other.kinds)
    hasNumber = hasNumber || other.hasNumber
    hasFraction = hasFraction || other.hasFraction
    hasLongWhole = hasLongWhole || other.hasLongWhole
    values += other.values
    nulls += other.nulls
    arrays += other.arrays
    objects += other.objects
    isTyped = isTyped || other.isTyped
    if let shape = other.inner.first { mergeInner(shape) }
    if members.isEmpty {
      if let shape = other.members.first?.common { mergeInner(shape) }
    } else if let found = other.members.first {
      members[0].merge(found)
      if members[0].columnCount > TypeInference.namesMax { forgetNames() }
    } else {
      forgetNames()
    }
  }

  private mutating func mergeInner(_ shape: ValueShape) {
    if inner.isEmpty { inner.append(shape) } else { inner[0].merge(shape) }
  }

  /// From here on the names are keys.
  private mutating func forgetNames() {
    if let shape = members.first?.common { mergeInner(shape) }
    members = []
  }

  mutating func add(text: String) {
    if candidates.isEmpty { values += 1 } else { narrow(to: look(at: text), []) }
  }

  private mutating func addInner(_ value: JSONValue) {
    guard depth < TypeInference.depthMax else { return }
    if inner.isEmpty { inner.append(ValueShape(depth: depth + 1)) }
    inner[0].add(value)
  }

  private mutating func narrow(to candidates: Candidates, _ kind: Kinds) {
    kinds.formUnion(kind)
    self.candidates.formIntersection(candidates)
    values += 1
  }

  // MARK: - The type

  var type: InferredType {
    if arrays + objects == 0 { return single }
    if isTyped || values > 0 || arrays > 0 && objects > 0 { return .any }
    if objects > 0, let members = members.first, members.isShape { return .object(members.columns) }
    guard let inner = inner.first ?? members.first?.common, inner.count > 0 else {
      return collection(of: .any, hasNull: false)
    }
    switch inner.type {
    case .list, .map, .any: return collection(of: .any, hasNull: false)
    // A list cannot hold a missing object.
    case .object where arrays > 0 && inner.nulls > 0: return collection(of: .any, hasNull: false)
    case let type: return collection(of: type, hasNull: inner.nulls > 0)
    }
  }

  private func collection(of type: InferredType, hasNull: Bool) -> InferredType {
    arrays > 0 ? .list(type, hasNull: hasNull) : .map(type, hasNull: hasNull)
  }

  private var single: InferredType {
    if values == 0 { return .string }
    if candidates.contains(.bool) { return .bool }
    if candidates.contains(.int) { return .int }
    if candidates.contains(.double), hasNumber, hasFraction || !hasLongWhole { return .double }
    if candidates.contains(.decimal), hasFraction { return .decimal }
    if candidates.contains(.date) { return .date }
    return kinds.isSubset(of: .string) || kinds == .number ? .string : .any
  }

  // MARK: - Texts

  private mutating func look(at text: String) -> Candidates {
    if text == "true" || text == "false" { return .bool }
    if let integer = Int64(text), integer.description == text {
      hasNumber = true
      return .holding(integer)
    }
    switch Self.number(text) {
    case .double:
      (hasNumber, hasFraction) = (true, true)
      return [.double, .decimal]
    case .number:
      (hasNumber, hasFraction) = (true, true)
      return .holding(text)
    case .whole:
      (hasNumber, hasLongWhole) = (true, true)
      return .holding(text)
    default: break
    }
    if JSONText.nonFinite(named: text) != nil { return [.double, .decimal] }
    return Timestamp(iso8601: text) != nil ? .date : []
  }

  /// A number in the form of JSON: without a leading zero or plus.
  private static func number(_ text: String) -> JSONValue? {
    guard let first = text.utf8.first,
      first == UInt8(ascii: "-") || UInt8(ascii: "0")...UInt8(ascii: "9") ~= first
    else { return nil }
    return try? JSONScanner.value(in: Array(text.utf8), keepingDigits: true)
  }
}
