/// The statements in which a push writes its parts.
struct PushStages {
  /// The parts of each statement, as (index of the class, index of the part in it).
  let stages: [[(class: Int, part: Int)]]

  /// All parts in one statement, so that the server checks foreign keys when everything is done.
  /// Two statements if the push creates keys again that others refer to.
  init(whole classes: [ClassPush]) {
    stages = [false, true].compactMap { isLater in
      let own = classes.indices.flatMap { place in
        classes[place].parts.indices.filter { classes[place].parts[$0].isLater == isLater }
          .map { (place, $0) }
      }
      return own.isEmpty ? nil : own
    }
  }

  /// One statement for each part, in an order in which each finds the rows that it refers to: for
  /// servers whose policies, triggers or rewrite rules require that, and for values that are too
  /// large for one message. Objects that others refer to are deleted last.
  init(ordered classes: [ClassPush]) {
    let targets = Set(classes.flatMap { $0.one.rules.foreignKeys.map(\.target) })
    let order = ForeignKey.parentsFirst(classes.map(\.one))
    func parts(_ place: Int, _ isWanted: (PushPart) -> Bool) -> [[(class: Int, part: Int)]] {
      classes[place].parts.indices.filter { isWanted(classes[place].parts[$0]) }
        .map { [(place, $0)] }
    }
    func isLast(_ part: PushPart, _ place: Int) -> Bool {
      part.kind == .deletion && !part.isAgain && targets.contains(classes[place].one.id)
    }
    stages =
      order.flatMap { place in parts(place) { !isLast($0, place) } }
      + order.reversed().flatMap { place in parts(place) { isLast($0, place) } }
  }

  /// - Returns: the ways to write a push, the best first.
  static func ways(_ classes: [ClassPush]) -> [PushStages] {
    let ordered = PushStages(ordered: classes)
    let bytes = classes.reduce(0) { $0 + $1.parts.reduce(0) { $0 + $1.byteCount } }
    if bytes > Push.statementBytes { return [ordered] }
    let whole = PushStages(whole: classes)
    return whole.stages.count == ordered.stages.count ? [whole] : [whole, ordered]
  }

  /// Whether a refused push may be accepted in another way. Policies and statements of triggers see
  /// the rows in their state before the statement, and no trigger may change a row that the
  /// statement changes, too.
  func mayDiffer(_ state: String) -> Bool {
    switch state {
    case "TN001", "TN002", "23505", "23502", "23P01": false
    case "23503": stages.count > 1
    case "27000", "0A000": true
    default: ServerRefusal(state) == .commit && !["22", "54"].contains(state.prefix(2))
    }
  }

  /// Whether an error is caused only by the way of writing.
  static func isUnfit(_ state: String) -> Bool { state == "27000" || state == "0A000" }
}
