/// A foreign key of a class's table on the server, to the table of another class or its own.
struct ForeignKey: Equatable {
  /// The column, if it refers to the primary key; nil for others.
  let column: String?
  /// The server's number of the class that it refers to.
  let target: Int
  let action: Action

  /// The server's action on the rows that refer to a deleted one.
  enum Action: String {
    case noAction = "a"
    case restrict = "r"
    case cascade = "c"
    case setNull = "n"
    case setDefault = "d"

    /// Whether it changes these rows, instead of refusing the deletion.
    var changesRows: Bool { self != .noAction && self != .restrict }
  }

  /// Classes in an order in which referenced classes come first, except in cycles of keys.
  static func parentsFirst(_ classes: [ExchangeClass]) -> [Int] {
    let places = Dictionary(
      classes.enumerated().map { ($1.id, $0) }, uniquingKeysWith: { first, _ in first })
    var (order, isMet): ([Int], [Bool]) = ([], classes.map { _ in false })
    func visit(_ place: Int) {
      if isMet[place] { return }
      isMet[place] = true
      for key in classes[place].rules.foreignKeys {
        if let target = places[key.target] { visit(target) }
      }
      order.append(place)
    }
    for place in classes.indices { visit(place) }
    return order
  }
}
