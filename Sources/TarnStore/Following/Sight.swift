/// What an observer with a given reach observes: at the first objects, and through each link from
/// there.
final class Sight {
  /// The observation at a position of a walk.
  enum Outlook: Hashable {
    /// Everything up to that many links away.
    case links(left: Int)
    /// The properties on some paths, which have that number.
    case ways(Int)
  }

  /// A property of an object.
  struct Spot {
    let column: ColumnID
    /// For backlinks the class of the origins, which then has the column.
    let origin: ClassID?
  }

  private struct Turn: Hashable {
    let number: Int
    let link: LinkStep
  }

  /// The observation at the start.
  let outlook: Outlook
  /// Whether no path visits an object twice. Paths named by an observer may, because they would be
  /// lost otherwise.
  let isFreeOfCircles: Bool
  /// The remaining parts of paths, one entry per `Outlook.ways`.
  private var ways: [[QueryDependency]] = []
  private var numbers: [Turn: Int] = [:]

  private let changes: ChangeSet
  private let schema: SchemaView
  private lazy var leadingClasses = findLeadingClasses()

  init(_ reach: Reach, over changes: ChangeSet, _ schema: SchemaView) {
    self.changes = changes
    self.schema = schema
    switch reach {
    case .links(let depth):
      outlook = .links(left: depth)
      isFreeOfCircles = true
    case .paths(let paths):
      ways = [paths.flatMap(\.dependencies)]
      outlook = .ways(0)
      isFreeOfCircles = false
    }
  }

  /// The links to follow from objects of a class, and what is observed behind them, as far as
  /// anything there may have changed.
  func links(from id: ClassID, _ outlook: Outlook) -> [(link: LinkStep, beyond: Outlook)] {
    switch outlook {
    case .links(let left):
      if left == 0 { return [] }
      let all = schema.links(of: id).map { (link: $0, beyond: Outlook.links(left: left - 1)) }
      return all.filter { mayLead($0.link.end, $0.beyond) }
    case .ways(let number):
      var found: [(link: LinkStep, beyond: Outlook)] = []
      for way in ways[number] {
        guard let link = way.links.first, link.start == id, changes.contains(way.classID),
          !found.contains(where: { $0.link == link })
        else { continue }
        found.append((link, beyond(link, number)))
      }
      return found
    }
  }

  private func beyond(_ link: LinkStep, _ number: Int) -> Outlook {
    let turn = Turn(number: number, link: link)
    if let known = numbers[turn] { return .ways(known) }
    numbers[turn] = ways.count
    ways.append(
      ways[number].compactMap { way in
        guard way.links.first == link else { return nil }
        var rest = way
        rest.links.removeFirst()
        return rest
      })
    return .ways(ways.count - 1)
  }

  /// The observed properties of an object that were set, in the order of the columns.
  func touched(_ object: LinkTarget, _ outlook: Outlook) -> [Spot] {
    guard let own = changes[object.classID] else { return [] }
    switch outlook {
    case .links:
      return own.touched.filter { $0.keys.contains(object.key) }.map {
        Spot(column: $0.column, origin: nil)
      }
    case .ways(let number):
      var found: Set<QueryDependency> = []
      for way in ways[number] where way.links.isEmpty && way.classID == object.classID {
        if way.touchedKeys(in: changes).contains(object.key) { found.insert(way) }
      }
      return found.map { Spot(column: $0.column, origin: $0.origin) }.sorted {
        ($0.column, $0.origin ?? ClassID(0)) < ($1.column, $1.origin ?? ClassID(0))
      }
    }
  }

  // MARK: - Classes

  private func mayLead(_ id: ClassID, _ outlook: Outlook) -> Bool {
    outlook == .links(left: 0) ? changes.contains(id) : leadingClasses.contains(id)
  }

  /// The classes of objects from which any number of links can lead to a change.
  private func findLeadingClasses() -> Set<ClassID> {
    let links = schema.schema.classes.flatMap { schema.links(of: $0.id) }
    var found = Set(changes.classes.map(\.id))
    var count = 0
    while count < found.count {
      count = found.count
      for link in links where found.contains(link.target) { found.insert(link.classID) }
    }
    return found
  }
}

extension LinkStep {
  /// The class of the objects at its start, and of those at its end.
  fileprivate var start: ClassID { isBackwards ? target : classID }
  fileprivate var end: ClassID { isBackwards ? classID : target }
}
