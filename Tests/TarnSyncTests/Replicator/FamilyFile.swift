import TarnStore
import TestSupport
import Testing

@testable import TarnSync

/// A file with parents and children, whose tables have foreign keys on the server. The table of the
/// children comes first there.
final class FamilyFile {
  static let child = ClassID(0)
  static let parent = ClassID(1)
  static let definitions = [
    ClassDefinition(
      name: "Child",
      properties: [
        .init(name: "_id", type: .int, isPrimaryKey: true),
        .init(name: "parent", type: .link, isOptional: true, target: "Parent"),
        .init(name: "n", type: .int),
      ]),
    ClassDefinition(
      name: "Parent",
      properties: [
        .init(name: "_id", type: .int, isPrimaryKey: true),
        .init(name: "up", type: .link, isOptional: true, target: "Parent"),
        .init(name: "favorite", type: .link, isOptional: true, target: "Child"),
        .init(name: "n", type: .int),
      ]),
  ]

  let store: Store
  let replica: Replica
  private(set) var replicator: Replicator
  private(set) var refused: [RefusedCommit] = []
  private let connect: () throws -> ServerConnection

  static func open(_ path: String) throws -> Store {
    var options = Store.Options()
    options.isDurable = false
    options.classes = definitions
    return try StoreRegistry.open(path, options)
  }

  /// - Parameter filling: makes objects before the file is a replica.
  init(
    _ path: String, filling: ((WriteSession) throws -> Void)? = nil,
    _ connect: @escaping () throws -> ServerConnection
  ) throws {
    self.connect = connect
    store = try Self.open(path)
    if let filling { try store.writeInTurn(filling) }
    replica = try Replica(store, classes: ["Child", "Parent"])
    replicator = try Replicator(replica, connect())
    try reconnect()
  }

  deinit { replica.close() }

  /// Begins another session.
  func reconnect() throws {
    replicator = try Replicator(replica, connect()) { [unowned self] in refused.append($0) }
  }

  func commit(_ body: (WriteSession) throws -> Void) throws { try store.writeInTurn(body) }

  /// The children as "7 of 1", and the parents.
  var objects: [String] {
    get throws {
      let reader = try SnapshotReader(store.newestSnapshot())
      let rows = PastRows(reader, RecordedPast(at: reader.snapshot.version))
      let children = try rows.keys(of: Self.child).map { key in
        guard
          case .link(let parent)? = try reader.value(of: ColumnID(1), at: key, in: Self.child)
        else { return "\(key.rawValue) of none" }
        return "\(key.rawValue) of \(parent.rawValue)"
      }
      return try children + rows.keys(of: Self.parent).map { "\($0.rawValue)" }
    }
  }
}

extension WriteSession {
  func makeParent(_ key: Int64, up: Int64? = nil, favorite: Int64? = nil) throws {
    var values = [ColumnID(0): Value.int(key)]
    values[ColumnID(1)] = up.map { .link(ObjectKey($0)) }
    values[ColumnID(2)] = favorite.map { .link(ObjectKey($0)) }
    try create(values, in: FamilyFile.parent)
  }

  func makeChild(_ key: Int64, of parent: Int64?) throws {
    var values = [ColumnID(0): Value.int(key)]
    values[ColumnID(1)] = parent.map { .link(ObjectKey($0)) }
    try create(values, in: FamilyFile.child)
  }

  func move(_ child: Int64, to parent: Int64) throws {
    try set(ColumnID(1), at: ObjectKey(child), in: FamilyFile.child, to: .link(ObjectKey(parent)))
  }

  func set(_ column: UInt16, of parent: Int64, to key: Int64) throws {
    try set(
      ColumnID(column), at: ObjectKey(parent), in: FamilyFile.parent, to: .link(ObjectKey(key)))
  }

  func deleteParent(_ key: Int64) throws { try delete(ObjectKey(key), in: FamilyFile.parent) }
  func deleteChild(_ key: Int64) throws { try delete(ObjectKey(key), in: FamilyFile.child) }
}
