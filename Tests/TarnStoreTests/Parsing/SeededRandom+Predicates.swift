import TarnStore
import TestSupport

/// Random predicates as the parser can give them.
extension SeededRandom {
  mutating func predicate(depth: Int) -> Predicate {
    switch depth == 0 ? 9 : below(10) {
    case 0, 1: .and(terms(depth))
    case 2, 3: .or(terms(depth))
    case 4: .not(predicate(depth: depth - 1))
    case 5: .constant(chance(50))
    default: .comparison(comparison())
    }
  }

  private mutating func terms(_ depth: Int) -> [Predicate] {
    (0..<(2 + below(2))).map { _ in predicate(depth: depth - 1) }
  }

  private mutating func comparison() -> Comparison {
    let op = ComparisonOperator.allCases.randomElement(using: &self)!
    let left: Operand = chance(80) ? path() : .value(literal())
    let options: StringOptions = chance(20) ? .caseInsensitive : []
    if op == .in {
      return Comparison(left, op, .values((0..<below(4)).map { _ in literal() }), options)
    }
    return Comparison(left, op, chance(20) ? path() : .value(literal()), options)
  }

  private mutating func path() -> Operand {
    let names = ["age", "name", "_id", "in", "Not", "ärger", "x1"]
    return .path((0..<(1 + below(3))).map { _ in .property(pick(names)) })
  }

  private mutating func literal() -> Value {
    switch below(6) {
    case 0: .null
    case 1: .bool(chance(50))
    case 2: .int(Int64.random(in: -100...100, using: &self))
    case 3: .double(Double(bitPattern: next() & 0xbfff_ffff_ffff_ffff))
    case 4: .data((0..<below(4)).map { _ in UInt8.random(in: 0...255, using: &self) })
    default:
      .string(["", "a'b", "say \"x\"", "\\n\n\t\r", "\u{1}é😀", "AND"].randomElement(using: &self)!)
    }
  }
}
