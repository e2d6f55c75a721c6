/// A table of a file: its columns, and where its objects are.
package struct RealmTable {
  package enum Kind: Int, Sendable {
    case top = 0
    /// Each object belongs to one other.
    case embedded = 1
    /// Objects on their way to a sync server.
    case asymmetric = 2
  }

  /// A column of links that lead here.
  package struct Backlink: Sendable {
    /// The position of the table with the links.
    package let origin: Int
    package let column: Int
  }

  package static let classPrefix = "class_"

  /// As in the file, with the prefix of classes.
  package let name: String
  /// The position in the list of tables, by which links name it.
  package let index: Int
  package let kind: Kind
  /// In the order in which the properties were declared.
  package internal(set) var columns: [RealmColumn] = []
  /// The position of the primary key among the columns.
  package internal(set) var primaryKey: Int?
  package internal(set) var backlinks: [Backlink] = []
  let root: Int
  /// The distinct texts of columns that have a list of them, by the position of the column.
  let distinct: [Int: [RealmValue]]

  /// The table of the schema version.
  static let metadata = "metadata"

  /// Whether a table of that name has something to read.
  static func isRead(_ name: String) -> Bool {
    name.utf8.starts(with: classPrefix.utf8) || name.utf8.elementsEqual(metadata.utf8)
  }

  /// The name of the class; nil for a table that is not a class.
  package var className: String? {
    guard name.utf8.starts(with: Self.classPrefix.utf8) else { return nil }
    return String(Substring(name.utf8.dropFirst(Self.classPrefix.utf8.count)))
  }

  init(
    _ bytes: FileBytes, _ ref: Int, _ name: String, at index: Int, _ tables: LinkTables
  ) throws(RealmFileError) {
    self.name = name
    self.index = index
    let top = try RealmArray.refs(bytes, ref)
    guard (12...14).contains(top.count), !top.isInner else {
      throw top.damaged("a table has \(top.count) slots")
    }
    let flags = try top.optionalNumber(12) ?? 0
    guard let kind = Kind(rawValue: flags & 3) else {
      throw top.damaged("a table is of an unknown kind")
    }
    self.kind = kind
    root = try top.ref(2)
    let spec = try Spec(bytes, top.ref(0))
    distinct = try spec.distinct()
    columns = try spec.columns()
    let targets = try Targets(top, bytes)
    for position in columns.indices where columns[position].type == .link {
      let column = columns[position]
      guard let key = try targets.table(column.leafIndex),
        let target = tables.index(ofKey: key)
      else { throw top.damaged("the target of property '\(column.name)' does not exist") }
      columns[position].target = target
    }
    for key in try spec.backlinks {
      let leafIndex = RealmColumn.leafIndex(key)
      // Links are read where they are; these columns are of no use without.
      guard let origin = try targets.table(leafIndex), let index = tables.index(ofKey: origin),
        let column = try targets.column(leafIndex)
      else { continue }
      backlinks.append(Backlink(origin: index, column: column))
    }
    if let key = try top.optionalNumber(11) {
      guard let position = columns.firstIndex(where: { $0.key == key }) else {
        throw top.damaged("the primary key is not among the properties")
      }
      primaryKey = position
    }
  }

  /// The names, types and attributes of the columns.
  private struct Spec {
    let bytes: FileBytes
    let top: RealmArray
    let names: [String]
    let keys: RealmArray

    init(_ bytes: FileBytes, _ ref: Int) throws(RealmFileError) {
      self.bytes = bytes
      top = try .refs(bytes, ref)
      guard top.count == 6, !top.isInner else {
        throw top.damaged("the description of a table has \(top.count) slots")
      }
      let list = try RealmArray(bytes, top.ref(1))
      let found = try StringLeaf.names(list)
      names = found.compactMap(\.self)
      guard names.count == found.count else { throw list.damaged("a property has no name") }
      keys = try .numbers(bytes, top.ref(5))
      let types = try RealmArray.numbers(bytes, top.ref(0))
      guard types.count == keys.count, names.count <= keys.count else {
        throw top.damaged(
          "a table has \(names.count) names, \(types.count) types and \(keys.count) columns")
      }
      for index in names.count..<keys.count {
        let number = try RealmColumn.typeNumber(Int(keys.number(index)))
        guard number == RealmColumn.backlink else { throw keys.damaged("a property has no name") }
      }
      try checkPlaces()
    }

    /// Two columns cannot have their values in one place.
    private func checkPlaces() throws(RealmFileError) {
      var places: Set<Int> = []
      for index in 0..<keys.count {
        guard try places.insert(RealmColumn.leafIndex(Int(keys.number(index)))).inserted else {
          throw keys.damaged("two columns are in one place")
        }
      }
      guard Set(names.map { Array($0.utf8) }).count == names.count else {
        throw top.damaged("two properties have one name")
      }
    }

    var backlinks: [Int] {
      get throws(RealmFileError) {
        var found: [Int] = []
        for index in names.count..<keys.count { found.append(Int(try keys.number(index))) }
        return found
      }
    }

    func columns() throws(RealmFileError) -> [RealmColumn] {
      let attributes = try RealmArray.numbers(bytes, top.ref(2))
      guard attributes.count == keys.count else {
        throw attributes.damaged("a table has not as many attributes as columns")
      }
      var columns: [RealmColumn] = []
      for (index, name) in names.enumerated() {
        var column = try RealmColumn(name, key: Int(keys.number(index)), in: keys)
        let bits = try attributes.number(index)
        column.index = bits & 1 != 0 ? .values : bits & 256 != 0 ? .fullText : .none
        columns.append(column)
      }
      return columns
    }

    func distinct() throws(RealmFileError) -> [Int: [RealmValue]] {
      guard let ref = try top.optionalRef(4) else { return [:] }
      let lists = try RealmArray.refs(bytes, ref)
      var found: [Int: [RealmValue]] = [:]
      for index in 0..<min(lists.count, names.count) {
        guard let list = try lists.optionalRef(index) else { continue }
        let leaf = try StringLeaf(RealmArray(bytes, list), .texts)
        var values: [RealmValue] = []
        for position in 0..<leaf.count { values.append(try leaf.value(position)) }
        found[index] = values
      }
      return found
    }
  }

  /// The other ends of links, by the places of columns.
  private struct Targets {
    private static let noTable = 0x7fff_ffff
    private static let noColumn = Int.max
    private let tables: RealmArray?
    private let columns: RealmArray?

    init(_ top: RealmArray, _ bytes: FileBytes) throws(RealmFileError) {
      tables = if let ref = try top.optionalRef(7) { try .numbers(bytes, ref) } else { nil }
      columns = if let ref = try top.optionalRef(8) { try .numbers(bytes, ref) } else { nil }
    }

    func table(_ leafIndex: Int) throws(RealmFileError) -> Int? {
      guard let tables, leafIndex < tables.count else { return nil }
      let key = Int(try tables.number(leafIndex))
      return key == Self.noTable ? nil : key
    }

    func column(_ leafIndex: Int) throws(RealmFileError) -> Int? {
      guard let columns, leafIndex < columns.count else { return nil }
      let key = Int(try columns.number(leafIndex))
      return key == Self.noColumn ? nil : key
    }
  }
}

extension LinkTables {
  /// The position of the table with that key; nil if it does not exist.
  func index(ofKey key: Int) -> Int? {
    let index = key & 0xffff
    return key >= 0 && index < keys.count && keys[index] == key ? index : nil
  }
}
