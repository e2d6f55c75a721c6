/// A predicate bound to a class of a schema: columns instead of names, constants in the columns'
/// types, comparisons reduced to the fastest test of a scan. Immutable; any thread may use it.
///
/// How values compare, here and in orders and indexes:
/// - Null equals null and nothing else, so `<=` and `>=` are true of two nulls. Null is neither
///   less nor greater than a value, except in columns and collections of strings: there it
///   precedes every string.
/// - NaN equals NaN and is unequal to every number. It is not less or greater than anything, and
///   `<=` and `>=` are false for it, even for two NaN. (An order must include them all the same:
///   null, then NaN, then the numbers.)
/// - Numbers compare by their exact value, whatever their types: neither side is rounded. But a
///   constant with a fraction has the value of its literal: 0.1 is the double nearest to a tenth
///   for a double, and a tenth for a decimal. For a float every constant is the float nearest to
///   it.
/// - Strings and data compare byte by byte, strings as UTF-8.
/// - A nil link on a path makes the value at its end null.
/// - No value contains, begins with, ends with or is like an empty string or null.
package struct ResolvedPredicate: Hashable, Sendable {
  /// The class of the tested rows.
  package let classID: ClassID
  let root: ResolvedNode

  init(classID: ClassID, root: ResolvedNode) {
    self.classID = classID
    self.root = root
  }

  /// Every column that can change the result, each once, in the order of the predicate.
  package var dependencies: [QueryDependency] {
    var seen: Set<QueryDependency> = []
    var found: [QueryDependency] = []
    root.forEachDependency { dependency in
      // Hashing pays off only for many.
      if found.count < 8 {
        if !found.contains(dependency) { found.append(dependency) }
        return
      }
      if found.count == 8, seen.isEmpty { seen = Set(found) }
      if seen.insert(dependency).inserted { found.append(dependency) }
    }
    return found
  }

  /// The approximate cost of a row in a scan.
  var cost: Int { root.cost }

  /// The result if it is the same for all rows, else nil.
  package var constant: Bool? {
    if case .constant(let value) = root { return value }
    return nil
  }
}

enum ResolvedNode: Hashable, Sendable {
  case constant(Bool)
  case test(ColumnPredicate)
  case pair(ValuePair)
  /// At least two nodes, none a constant; the cheapest first.
  case and([ResolvedNode])
  case or([ResolvedNode])
  indirect case not(ResolvedNode)
  case collection(CollectionPredicate)
}

/// A column against constants.
///
/// A class, so that walking the tree once per cluster copies one reference and no arrays.
final class ColumnPredicate: Hashable, Sendable {
  let path: ColumnPath
  let test: ScalarPredicate
  /// True if the test accepts the rows that do not pass.
  let isNegated: Bool

  init(_ path: ColumnPath, _ test: ScalarPredicate, isNegated: Bool = false) {
    self.path = path
    self.test = test
    self.isNegated = isNegated
  }

  /// The result for a row without a value.
  var acceptsNull: Bool { passesNull != isNegated }

  /// Whether null passes the test: in a column of strings it precedes all strings.
  var passesNull: Bool {
    switch test {
    case .isNull: true
    case .text(let pattern): path.type == .string && [.less, .lessOrEqual].contains(pattern.op)
    default: false
    }
  }

  static func == (a: ColumnPredicate, b: ColumnPredicate) -> Bool {
    a === b || (a.path == b.path && a.test == b.test && a.isNegated == b.isNegated)
  }

  func hash(into hasher: inout Hasher) {
    hasher.combine(path)
    hasher.combine(test)
    hasher.combine(isNegated)
  }
}

package enum ScalarPredicate: Hashable, Sendable {
  case isNull
  case isNaN
  /// For a link: the accepted keys.
  case int(Domain<Int64>)
  case bool(Bool)
  case double(Domain<Double>)
  case float(Domain<Float>)
  case decimal(Domain<DecimalOrder>)
  case date(Domain<Timestamp>)
  case bytes12(Domain<Bytes12>)
  case bytes16(Domain<Bytes16>)
  /// Strings and data.
  case text(TextPattern)
  /// For a mixed value: the tests by type. Objects are links.
  case ofType([ColumnType: ScalarPredicate])
  /// For a mixed value.
  case object(Set<ObjectRef>)
}

extension ResolvedNode {
  func forEachDependency(_ body: (QueryDependency) -> Void) {
    switch self {
    case .constant: break
    case .test(let test): test.path.dependencies.forEach(body)
    case .pair(let pair):
      pair.left.dependencies.forEach(body)
      pair.right.dependencies.forEach(body)
    case .and(let nodes), .or(let nodes): for node in nodes { node.forEachDependency(body) }
    case .not(let node): node.forEachDependency(body)
    case .collection(let test): test.dependencies.forEach(body)
    }
  }

  /// The conjunction of the nodes: constants folded, nested conjunctions flattened, the cheapest
  /// first.
  static func all(_ nodes: [ResolvedNode]) -> ResolvedNode { joined(nodes, all: true) }

  /// The disjunction of the nodes.
  static func any(_ nodes: [ResolvedNode]) -> ResolvedNode { joined(nodes, all: false) }

  private static func joined(_ nodes: [ResolvedNode], all: Bool) -> ResolvedNode {
    var kept: [ResolvedNode] = []
    for node in nodes {
      switch node {
      case .constant(all): continue
      case .constant: return node
      case .and(let inner) where all, .or(let inner) where !all: kept += inner
      default: kept.append(node)
      }
    }
    guard kept.count > 1 else { return kept.first ?? .constant(all) }
    let ranked = cheapestFirst(kept)
    return all ? .and(ranked) : .or(ranked)
  }

  static prefix func ! (node: ResolvedNode) -> ResolvedNode {
    switch node {
    case .constant(let value): .constant(!value)
    case .test(let test): .test(ColumnPredicate(test.path, test.test, isNegated: !test.isNegated))
    case .not(let inner): inner
    default: .not(node)
    }
  }

  private static func cheapestFirst(_ nodes: [ResolvedNode]) -> [ResolvedNode] {
    let ranked = nodes.enumerated().map { (cost: $1.cost, position: $0, node: $1) }
    return ranked.sorted { ($0.cost, $0.position) < ($1.cost, $1.position) }.map(\.node)
  }

  /// The approximate cost in nanoseconds per row.
  fileprivate var cost: Int {
    switch self {
    case .constant: 0
    case .test(let test): test.test.cost + test.path.links.count * 100
    case .pair(let pair): pair.cost
    case .and(let nodes), .or(let nodes): nodes.reduce(0) { $0 + $1.cost }
    case .not(let node): node.cost
    case .collection(let test): 500 + test.links.count * 100
    }
  }
}

extension ScalarPredicate {
  fileprivate var cost: Int {
    switch self {
    case .isNull, .bool: 1
    case .int, .double, .float, .isNaN: 2
    case .date, .bytes12, .bytes16: 4
    case .decimal: 10
    case .text(let pattern):
      !pattern.options.isEmpty
        ? 40 : pattern.op == .like ? 20 : pattern.op == .contains ? 8 : 6
    case .ofType, .object: 100
    }
  }
}
