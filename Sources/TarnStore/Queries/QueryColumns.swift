/// The columns that decide which rows a query has and in which order: what a change is looked up
/// in. Found when the first change comes, since most queries are asked once and dropped.
final class QueryColumns: Sendable {
  /// One that is not in the row: behind links, or what links to the row or to one behind links.
  struct Linked: Sendable {
    var dependency: QueryDependency
    var decidesOrder: Bool
  }

  /// Columns of the class itself that decide which rows there are.
  let members: Set<ColumnID>
  /// Those that decide the order, or what stages leave.
  let order: Set<ColumnID>
  let linked: [Linked]
  /// The query's class, and every class that a path of the query goes through.
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
