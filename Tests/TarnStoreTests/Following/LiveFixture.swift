import TestSupport

@testable import TarnStore

/// A store of people and dogs, and moves from one version of it to the next.
final class LiveFixture {
  /// An age, and the breed that dogs are grouped by.
  static let dog = ClassID(0)
  static let age = ColumnID(1)
  static let breed = ColumnID(2)

  static let person = ClassID(1)
  static let name = ColumnID(1)
  static let favourite = ColumnID(2)
  static let dogs = ColumnID(3)
  static let numbers = ColumnID(4)
  static let members = ColumnID(5)
  static let labels = ColumnID(6)
  static let friend = ColumnID(7)
  static let friends = ColumnID(8)

  private static let classes = [
    ClassDefinition(
      name: "Dog",
      properties: [
        .init(name: "_id", type: .int, isPrimaryKey: true), .init(name: "age", type: .int),
        .init(name: "breed", type: .string),
      ]),
    ClassDefinition(
      name: "Person",
      properties: [
        .init(name: "_id", type: .int, isPrimaryKey: true), .init(name: "name", type: .string),
        .init(name: "favourite", type: .link, isOptional: true, target: "Dog"),
        .init(name: "dogs", type: .link, collection: .list, target: "Dog"),
        .init(name: "numbers", type: .int, collection: .list),
        .init(name: "members", type: .int, collection: .set),
        .init(name: "labels", type: .string, collection: .map),
        .init(name: "friend", type: .link, isOptional: true, target: "Person"),
        .init(name: "friends", type: .link, collection: .list, target: "Person"),
      ]),
  ]

  private let temporary = TemporaryStore()
  let store: Store
  private(set) var snapshot: Snapshot

  /// Dogs with the keys 1... and people with the keys 1..., as many as are asked for.
  init(dogs: Int = 3, people: Int = 3) throws {
    store = try temporary.open(Self.classes)
    if dogs + people > 0 {
      try store.write { session in
        for key in 1..<Int64(dogs + 1) {
          try session.create(
            [ColumnID(0): .int(key), Self.age: .int(key), Self.breed: .string("pug")],
            in: Self.dog)
        }
        for key in 1..<Int64(people + 1) {
          try session.create([ColumnID(0): .int(key)], in: Self.person)
        }
      }
    }
    snapshot = try store.newestSnapshot()
  }

  var rows: Rows { get throws { Rows(try SnapshotReader(snapshot)) } }

  static func place(_ column: ColumnID, of key: Int64 = 1) -> SequencePlace {
    SequencePlace(classID: person, key: ObjectKey(key), column: column)
  }

  static func person(_ key: Int64) -> ObjectRef {
    ObjectRef(classID: person, key: ObjectKey(key))
  }

  /// Commits a write, and gives the move to it from the version before.
  func move(_ body: (WriteSession) throws -> Void) throws -> LiveMove {
    let former = snapshot
    try store.write(body)
    snapshot = try store.newestSnapshot()
    return LiveMove(
      try ChangeLog.changes(from: former, to: snapshot), from: .version(former), to: try rows)
  }

  /// What an observer of a model is told of a write; nil if nothing. The content follows.
  func difference<Model: LiveModel>(
    _ model: Model, _ content: inout Model.Content, seen scope: Scope = .standard,
    _ body: (WriteSession) throws -> Void
  ) throws -> String? {
    try change(model, &content, seen: scope, body).map(Self.text)
  }

  /// The same before it is put into words.
  func change<Model: LiveModel>(
    _ model: Model, _ content: inout Model.Content, seen scope: Scope = .standard,
    _ body: (WriteSession) throws -> Void
  ) throws -> LiveChange? {
    let move = try move(body)
    var step = try model.advance(&content, over: move)
    let plan = BoundScope(scope, from: model.elementClasses, move.rows.schema)
    return try model.change(&step, &content, move, seen: plan)
  }

  /// Deletions, insertions and modifications, as in "-[0] +[1] ~[2]".
  static func text(_ change: LiveChange) -> String {
    let difference = change.difference()
    if difference.keys.isEmpty { return text(difference.indices) }
    let lists = difference.keys.lists
    return "-\(lists.deletions) +\(lists.insertions) ~\(lists.modifications)"
  }

  private static func text(_ changes: IndexChanges) -> String {
    let moves = changes.moves.map { " \($0.from)→\($0.to)" }.joined()
    return "-\(changes.deletions) +\(changes.insertions) ~\(changes.modifications)" + moves
  }
}

extension Value {
  /// A whole number; nil for other values.
  var number: Int64? { if case .int(let number) = self { number } else { nil } }
}
