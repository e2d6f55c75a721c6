import TestSupport
import Testing

@testable import TarnStore

/// A class that is emptied in the very write that linked to it: what collections hold is not in
/// their objects' rows then.
struct ClearingTests {
  private static let part = ClassID(0)
  private static let target = ClassID(1)
  private static let holder = ClassID(2)
  private static let classes = [
    ClassDefinition(
      name: "Part", properties: [.init(name: "size", type: .int)], isEmbedded: true),
    ClassDefinition(name: "Target", properties: [.init(name: "size", type: .int)]),
    ClassDefinition(
      name: "Holder",
      properties: [
        .init(name: "one", type: .link, isOptional: true, target: "Target"),
        .init(name: "list", type: .link, collection: .list, target: "Target"),
        .init(name: "set", type: .link, collection: .set, target: "Target"),
        .init(name: "map", type: .link, collection: .map, isOptional: true, target: "Target"),
        .init(name: "any", type: .any),
        .init(name: "anyList", type: .any, collection: .list),
        .init(name: "anySet", type: .any, collection: .set),
        .init(name: "anyMap", type: .any, collection: .map),
        .init(name: "parts", type: .link, collection: .list, target: "Part"),
        .init(name: "partMap", type: .link, collection: .map, isOptional: true, target: "Part"),
      ]),
  ]

  /// What links to the object that goes.
  enum Holding: Int, CaseIterable {
    case one, list, set, map, any, anyList, anySet, anyMap
    case nestedInAny = 14
    case nestedInList = 15
    var column: ColumnID { ColumnID(UInt16(rawValue % 10)) }
  }

  private let file = TemporaryStore()
  private let store: Store
  init() throws { store = try file.open(Self.classes) }

  private func holder(_ session: WriteSession) throws -> ObjectKey {
    try session.create([ColumnID(4): .null], in: Self.holder)
  }

  private func link(
    _ holding: Holding, of key: ObjectKey, to target: ObjectKey, _ session: WriteSession
  ) throws {
    let at = SequencePlace(classID: Self.holder, key: key, column: holding.column)
    let object = Value.object(Self.target, target)
    switch holding {
    case .one: try session.set(holding.column, at: key, in: Self.holder, to: .link(target))
    case .list: try session.insert(.link(target), at: 0, in: at)
    case .set: try session.insert(.link(target), intoSet: at)
    case .map: try session.set(.link(target), forKey: "k", inMap: at)
    case .any: try session.set(holding.column, at: key, in: Self.holder, to: object)
    case .anyList: try session.insert(object, at: 0, in: at)
    case .anySet: try session.insert(object, intoSet: at)
    case .anyMap: try session.set(object, forKey: "k", inMap: at)
    case .nestedInAny:
      let id = try session.makeNested(.list, in: at)
      try session.set(holding.column, at: key, in: Self.holder, to: .list(id))
      try session.insert(object, at: 0, in: at.nested(id))
    case .nestedInList:
      let id = try session.makeNested(.map, in: at)
      try session.insert(.map(id), at: 0, in: at)
      try session.set(object, forKey: "k", inMap: at.nested(id))
    }
  }

  /// No property of any holder links to anything.
  private func expectNoLinks() throws {
    let reader = try SnapshotReader(store.newestSnapshot())
    for key in try reader.allKeys(in: Self.holder) {
      for column in reader.schema[Self.holder].columns {
        if column.type == .link, column.collection == .none {
          #expect(try reader.value(of: column.id, at: key, in: Self.holder) == .null)
        }
        #expect(try reader.links(from: column, at: key, in: Self.holder).isEmpty, "\(column.name)")
      }
    }
  }

  @Test(arguments: Holding.allCases, [true, false])
  func nothingLinksToWhatIsGone(holding: Holding, isNewHolder: Bool) throws {
    let older = try store.write { try holder($0) }
    try store.write { session in
      let key = isNewHolder ? try holder(session) : older
      let target = try session.create([:], in: Self.target)
      try link(holding, of: key, to: target, session)
      try session.clear(Self.target)
    }
    try expectNoLinks()
    // The next object of the class gets no links from before.
    try store.write { _ = try $0.create([:], in: Self.target) }
    try expectNoLinks()
  }

  @Test(arguments: [true, false], [8, 9] as [UInt16])
  func embeddedObjectsGoWithWhatHasJustGotThem(isNewHolder: Bool, column: UInt16) throws {
    let older = try store.write { try holder($0) }
    try store.write { session in
      let key = isNewHolder ? try holder(session) : older
      let place = SequencePlace(classID: Self.holder, key: key, column: ColumnID(column))
      let part = Value.link(try session.create([:], in: Self.part))
      if column == 8 {
        try session.insert(part, at: 0, in: place)
      } else {
        try session.set(part, forKey: "k", inMap: place)
      }
      try session.clear(Self.holder)
    }
    let reader = try SnapshotReader(store.newestSnapshot())
    #expect(try reader.record(of: Self.part).rowCount == 0)
  }
}
