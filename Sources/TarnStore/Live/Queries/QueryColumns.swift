/// The columns that decide which rows a query has and in which order: changes are looked up in
/// them. Found at the first change, since most queries are evaluated once and released.
final class QueryColumns: Sendable {
  /// A column that is not in the row: behind links, or of backlinks.
  struct Linked: Sendable {
    var dependency: QueryDependency
    var decidesOrder: Bool
  }

  /// Columns of the class itself that decide which rows match.
  let members: Set<ColumnID>
  /// Columns that decide the order, or the results of stages.
  let order: Set<ColumnID>
  let linked: [Linked]
  /// The query's class, and every class that a path of the query passes through.
  let classes: Set<ClassID>

  init(of id: ClassID, members: [QueryDependency], order: [QueryDependency]) {
    self.members = Self.own(members)
    self.order = Self.own(order)
    linked =
      Self.linked(members, decidesOrder: false) + Self.linked(order, decidesOrder: true)
    classes = Set([id] + members.map(\.classID) + order.map(\.classID))
  }

  private static func own(_ dependencies: [QueryDependency]) -> Set<ColumnID> {
    Set(dependencies.lazy.filter(\.isInRow).map(\.column))
  }

  private static func linked(
    _ dependencies: [QueryDependency], decidesOrder: Bool
  ) -> [Linked] {
    dependencies.lazy.filter { !$0.isInRow }.map {
      Linked(dependency: $0, decidesOrder: decidesOrder)
    }
  }
}
