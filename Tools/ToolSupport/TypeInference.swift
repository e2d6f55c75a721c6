import Foundation
import TarnStore

/// What a column of an imported file holds, as far as its values tell.
package indirect enum InferredType: Sendable, Equatable {
  case bool, int, double, date, string
  /// Values that no one type takes, such as lists beside numbers.
  case any
  /// Arrays with elements of a type; whether some of them are null.
  case list(InferredType, hasNull: Bool)
  /// Objects that have other names each; whether some values are null.
  case map(InferredType, hasNull: Bool)
  /// Objects that have the same names.
  case object([InferredColumn])
}

/// One column that the values of a file suggest.
package struct InferredColumn: Sendable, Equatable {
  package let name: String
  package let type: InferredType
  /// Whether a value was null or missing.
  package let isOptional: Bool
}

/// Finds the narrowest type of each column that takes all the values seen: bool, int, double,
/// date, else string; ints and doubles together are doubles. Of JSON, values of several kinds and
/// numbers that no one type has exactly are of any type: each keeps its own. A column of which no
/// value was seen is an optional string.
///
/// Text is read with care, because what looks like a number may be a name: `007` and `+1` are
/// strings, since as numbers they would not come back as they were, and so is a whole number that
/// no Int64 holds. Text is a bool only as `true` or `false`. No number loses digits: fractions and
/// whole numbers that no Double has exactly are strings together.
///
/// Arrays of JSON are lists. Its objects have a shape of their own where most of them have the same
/// names, else they are maps. What is more than that, such as arrays in arrays, is of any type.
package struct TypeInference: Sendable {
  /// More names than that are keys of a map, not those of properties.
  static let namesMax = 100
  /// Deeper ones are of any type.
  static let depthMax = 16

  private var names: [String] = []
  private var shapes: [ValueShape] = []
  private var indices: [String: Int] = [:]
  private var records = 0
  private let depth: Int

  package init() { self.init(depth: 0) }

  init(depth: Int) { self.depth = depth }

  /// The columns in the order in which they first appeared.
  package var columns: [InferredColumn] {
    zip(names, shapes).map { name, shape in
      InferredColumn(
        name: name, type: shape.type, isOptional: shape.count == 0 || shape.count < records)
    }
  }

  /// Whether most of the records have each of the columns, and none has many.
  var isShape: Bool {
    !names.isEmpty && names.count <= Self.namesMax && shapes.allSatisfy { $0.count * 2 >= records }
      && names.allSatisfy { !$0.isEmpty && !$0.contains(".") && !$0.hasPrefix("$") }
  }

  var columnCount: Int { names.count }

  /// What all values of all columns have in common; nil without columns.
  var common: ValueShape? {
    var common = shapes.first
    for shape in shapes.dropFirst() { common?.merge(shape) }
    return common
  }

  /// Takes all that the other one has seen into account.
  mutating func merge(_ other: TypeInference) {
    records += other.records
    for (name, shape) in zip(other.names, other.shapes) { shapes[index(of: name)].merge(shape) }
  }

  /// Takes a record of JSON into account.
  package mutating func add(_ members: [JSONMember]) {
    records += 1
    for member in members { shapes[index(of: member.name)].add(member.value) }
  }

  /// Takes a record of CSV into account.
  package mutating func add(_ names: [String], _ fields: [String?]) {
    records += 1
    for (name, field) in zip(names, fields) {
      let index = index(of: name)
      if let field { shapes[index].add(text: field) }
    }
  }

  /// Makes columns of these names, whether values come for them or not.
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

/// What all values of one column, or all elements of its lists, have in common.
struct ValueShape: Sendable {
  /// The types that all values so far allow, as bits.
  private struct Candidates: OptionSet {
    let rawValue: UInt8
    static let bool = Candidates(rawValue: 1)
    static let int = Candidates(rawValue: 2)
    static let double = Candidates(rawValue: 4)
    static let date = Candidates(rawValue: 8)
    static let all: Candidates = [.bool, .int, .double, .date]
  }

  /// The kinds of values that there were, as bits: those of JSON, which says what they are.
  private struct Kinds: OptionSet {
    let rawValue: UInt8
    static let bool = Kinds(rawValue: 1)
    static let number = Kinds(rawValue: 2)
    static let string = Kinds(rawValue: 4)
  }

  private let depth: Int
  private var candidates = Candidates.all
  private var kinds: Kinds = []
  /// Values that are neither null nor lists or objects.
  private var values = 0
  private var nulls = 0
  private var arrays = 0
  private var objects = 0
  /// An object that says of which type a value is, as exports write them.
  private var isTyped = false
  /// Of arrays the elements, of objects with many names the values: one shape, once there is one.
  private var inner: [ValueShape] = []
  /// Of objects; none once they have too many names, or lie too deep.
  private var members: [TypeInference]

  init(depth: Int) {
    self.depth = depth
    members = depth < TypeInference.depthMax ? [TypeInference(depth: depth + 1)] : []
  }

  /// How many values there were that are not null.
  var count: Int { values + arrays + objects }

  mutating func add(_ value: JSONValue) {
    switch value {
    case .null: nulls += 1
    case .bool: narrow(to: .bool, .bool)
    case .integer(let number):
      narrow(to: Double(exactly: number) == nil ? .int : [.int, .double], .number)
    // Reported where it is read as an int: one line does not decide for all.
    case .whole(let text): narrow(to: Self.isExact(text) ? [.int, .double] : .int, .number)
    case .double: narrow(to: .double, .number)
    case .string(let text):
      let isNumber = JSONText.nonFinite(named: text) != nil
      narrow(to: isNumber ? .double : Timestamp(iso8601: text) != nil ? .date : [], .string)
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

  /// From here on they are keys.
  private mutating func forgetNames() {
    if let shape = members.first?.common { mergeInner(shape) }
    members = []
  }

  mutating func add(text: String) {
    if candidates.isEmpty { values += 1 } else { narrow(to: Self.candidates(of: text), []) }
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
    if candidates.contains(.double) { return .double }
    if candidates.contains(.date) { return .date }
    return kinds.isSubset(of: .string) ? .string : .any
  }

  // MARK: - Texts

  private static func candidates(of text: String) -> Candidates {
    if text == "true" || text == "false" { return .bool }
    if let integer = Int64(text), integer.description == text {
      return Double(exactly: integer) == nil ? .int : [.int, .double]
    }
    if isDecimal(text) || JSONText.nonFinite(named: text) != nil { return .double }
    return Timestamp(iso8601: text) != nil ? .date : []
  }

  /// Digits with a point or an exponent, no zero or plus before them: `1.5`, `-2e10`, `0.1`.
  private static func isDecimal(_ text: String) -> Bool {
    guard text.utf8.contains(where: { $0 == 0x2e || $0 | 0x20 == 0x65 }) else { return false }
    guard case .double? = try? JSONScanner.value(in: text) else { return false }
    return true
  }

  /// Whether a Double has the whole number with all its digits.
  private static func isExact(_ text: String) -> Bool {
    Double(text).map { String(format: "%.0f", $0) } == text
  }
}
