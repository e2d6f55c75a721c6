/// A condition on the rows of a class's table, with separate constants: a statement has them as
/// parameters.
///
///     let condition: SQLCondition = "\(sql: column) = \(SQLConstant(text: "it's"))"
struct SQLCondition: Sendable, ExpressibleByStringInterpolation {
  fileprivate enum Piece {
    case sql(String)
    case constant(SQLConstant)
  }

  private var pieces: [Piece]

  /// A condition without constants.
  init(sql: String) { pieces = [.sql(sql)] }

  init(stringLiteral text: String) { self.init(sql: text) }

  init(stringInterpolation interpolation: StringInterpolation) {
    pieces = interpolation.pieces
  }

  struct StringInterpolation: StringInterpolationProtocol {
    fileprivate var pieces: [Piece] = []

    init(literalCapacity: Int, interpolationCount: Int) {
      pieces.reserveCapacity(2 * interpolationCount + 1)
    }

    mutating func appendLiteral(_ text: String) {
      if !text.isEmpty { pieces.append(.sql(text)) }
    }

    /// - Parameter text: SQL, such as a column's quoted name.
    mutating func appendInterpolation(sql text: String) { appendLiteral(text) }

    mutating func appendInterpolation(_ constant: SQLConstant) {
      pieces.append(.constant(constant))
    }

    mutating func appendInterpolation(_ condition: SQLCondition) { pieces += condition.pieces }
  }

  /// Conditions with a word between them.
  static func joined(_ conditions: [SQLCondition], _ word: String) -> SQLCondition {
    var pieces: [Piece] = []
    for condition in conditions {
      if !pieces.isEmpty { pieces.append(.sql(word)) }
      pieces += condition.pieces
    }
    var result = SQLCondition(sql: "")
    result.pieces = pieces
    return result
  }

  /// The condition with its constants in SQL syntax: in the file, where it identifies queries. It
  /// must never change, or files would fetch their objects again.
  var kept: String {
    pieces.map { piece in
      switch piece {
      case .sql(let text): text
      case .constant(let constant): constant.kept
      }
    }.joined()
  }

  /// The number of constants, of which a statement can have 65,535.
  var constantCount: Int {
    pieces.count { if case .constant = $0 { true } else { false } }
  }
  static let constantsMax = 10_000

  /// The condition in a statement.
  ///
  /// - Parameter parameters: the parameters of the statement, to which it adds its constants.
  func text(adding parameters: inout [WireParameter]) -> String {
    var text = ""
    for piece in pieces {
      switch piece {
      case .sql(let sql): text += sql
      case .constant(let constant):
        parameters.append(constant.parameter)
        text += constant.before + "$\(parameters.count)" + constant.after
      }
    }
    return text
  }
}

/// A constant of a condition.
struct SQLConstant: Sendable {
  /// In SQL syntax.
  let kept: String
  let parameter: WireParameter
  /// The SQL before and after the parameter.
  var before = ""
  var after = ""

  init(kept: String, _ type: WireType, _ bytes: [UInt8]?) {
    self.kept = kept
    parameter = WireParameter(type, bytes)
  }

  /// A list of constants of which a term must equal one, with the word between them.
  init(oneOf constants: [SQLConstant], _ type: WireType) {
    kept = "IN (\(constants.map(\.kept).joined(separator: ", ")))"
    parameter = WireParameter(array: type, constants.map(\.parameter.bytes))
    (before, after) = ("= ANY (", ")")
  }

  /// The path to a property of an embedded object.
  init(path names: [String]) {
    kept = SQLText.standardLiteral(SQLText.array(names))
    parameter = WireParameter(array: .text, names.map { Array($0.utf8) })
  }

  init(text: String) {
    self.init(kept: SQLText.standardLiteral(text), .text, Array(text.utf8))
  }

  init(data bytes: [UInt8]) {
    self.init(kept: "'\\x\(bytes.hexadecimalDigits)'::bytea", .bytea, bytes)
  }
}
