/// What a column of an imported file holds, as far as its values tell.
package enum InferredType: String, Sendable, CaseIterable {
  case bool, int, double, date, string
}

/// One column that the values of a file suggest.
package struct InferredColumn: Sendable, Equatable {
  package let name: String
  package let type: InferredType
  /// Whether a value was null or missing.
  package let isOptional: Bool
}

/// Finds the narrowest type of each column that takes all the values seen: bool, int, double,
/// date, else string; ints and doubles together are doubles. A column of which no value was seen
/// is an optional string.
///
/// Text is read with care, because what looks like a number may be a name: `007` and `+1` are
/// strings, since as numbers they would not come back as they were, and so is a whole number that
/// no Int64 holds. Text is a bool only as `true` or `false`.
package struct TypeInference: Sendable {
  /// The types that all values so far allow, as bits.
  private struct Candidates: OptionSet {
    let rawValue: UInt8
    static let bool = Candidates(rawValue: 1)
    static let int = Candidates(rawValue: 2)
    static let double = Candidates(rawValue: 4)
    static let date = Candidates(rawValue: 8)
    static let all: Candidates = [.bool, .int, .double, .date]
  }

  private struct State {
    let name: String
    var candidates = Candidates.all
    var values = 0
  }

  private var states: [State] = []
  private var places: [String: Int] = [:]
  private var records = 0

  package init() {}

  /// The columns in the order in which they first appeared.
  package var columns: [InferredColumn] {
    states.map { state in
      InferredColumn(
        name: state.name, type: Self.type(state), isOptional: state.values < records)
    }
  }

  /// Takes a record of JSON into account. Arrays and objects count as strings.
  package mutating func add(_ members: [JSONMember]) {
    records += 1
    for member in members {
      let place = place(of: member.name)
      switch member.value {
      case .null: continue
      case .bool: narrow(place, to: .bool)
      case .integer: narrow(place, to: [.int, .double])
      case .double: narrow(place, to: .double)
      case .string(let text):
        let isNumber = JSONText.nonFinite(named: text) != nil
        narrow(place, to: isNumber ? .double : ISODate.parse(text) != nil ? .date : [])
      case .array, .object: narrow(place, to: [])
      }
    }
  }

  /// Takes a record of CSV into account.
  package mutating func add(_ names: [String], _ fields: [String?]) {
    records += 1
    for (name, field) in zip(names, fields) {
      let place = place(of: name)
      guard let field else { continue }
      if states[place].candidates.isEmpty {
        states[place].values += 1
      } else {
        narrow(place, to: Self.candidates(of: field))
      }
    }
  }

  private mutating func place(of name: String) -> Int {
    if let place = places[name] { return place }
    places[name] = states.count
    states.append(State(name: name))
    return states.count - 1
  }

  private mutating func narrow(_ place: Int, to candidates: Candidates) {
    states[place].candidates.formIntersection(candidates)
    states[place].values += 1
  }

  private static func type(_ state: State) -> InferredType {
    if state.values == 0 { return .string }
    if state.candidates.contains(.bool) { return .bool }
    if state.candidates.contains(.int) { return .int }
    if state.candidates.contains(.double) { return .double }
    return state.candidates.contains(.date) ? .date : .string
  }

  private static func candidates(of text: String) -> Candidates {
    if text == "true" || text == "false" { return .bool }
    if let integer = Int64(text), integer.description == text { return [.int, .double] }
    if isDecimal(text) || JSONText.nonFinite(named: text) != nil { return .double }
    return ISODate.parse(text) != nil ? .date : []
  }

  /// Digits with a point or an exponent, no zero or plus before them: `1.5`, `-2e10`, `0.1`.
  private static func isDecimal(_ text: String) -> Bool {
    guard text.utf8.contains(where: { $0 == 0x2e || $0 | 0x20 == 0x65 }) else { return false }
    guard case .double? = try? JSONScanner.value(in: text) else { return false }
    return true
  }
}
