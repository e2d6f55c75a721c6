import TestSupport
import Testing

@testable import TarnStore

/// Sequences of many pages.
@Suite struct LargeCollectionTests {
  private static let things = ClassID(0)
  private static let classes = [
    ClassDefinition(
      name: "Thing",
      properties: [
        .init(name: "list", type: .int, collection: .list),
        .init(name: "texts", type: .string, collection: .list),
        .init(name: "map", type: .int, collection: .map),
      ])
  ]

  private let file = TemporaryStore()
  private let store: Store
  private let place: SequencePlace
  private var random = SeededRandom(seed: 7)

  init() throws {
    store = try file.open(Self.classes)
    let key = try store.write { try $0.create([:], in: Self.things) }
    place = SequencePlace(classID: Self.things, key: key, column: ColumnID(0))
  }

  private func check(_ wanted: [Int64]) throws {
    let reader = try SnapshotReader(store.newestSnapshot())
    #expect(SequenceCheck(reader).problems == [])
    let sequence = try #require(try reader.sequence(at: place))
    var found: [Int64] = []
    try sequence.forEach(in: 0..<sequence.count) { value in
      if case .int(let number) = value { found.append(number) }
      return true
    }
    #expect(found == wanted)
  }

  /// Many pages come between two others, until there is no room for their labels.
  @Test(arguments: [0, 1, 2])
  mutating func `elements come at one position again and again`(_ where: Int) throws {
    var model = (0..<5_000).map { Int64($0) }
    try store.write { try $0.insert(model.map { .int($0) }, at: 0, in: place) }
    let count = 40
    for round in 0..<count {
      let index = [0, model.count, 2_500][`where`]
      let fresh = (0..<1_200).map { Int64($0 * $0 + round) }
      try store.write { try $0.insert(fresh.map { .int($0) }, at: index, in: place) }
      model.insert(contentsOf: fresh, at: index)
    }
    try check(model)
  }

  @Test mutating func manyElementsComeInOneWrite() throws {
    var model = (0..<20_000).map { Int64($0) }
    try store.write { session in
      for number in model { try session.insert(.int(number), at: Int(number), in: place) }
    }
    try check(model)
    try store.write { session in
      for number in 0..<10_000 {
        try session.insert(.int(1), at: 10_000 + number / 2, in: place)
        model.insert(1, at: 10_000 + number / 2)
      }
    }
    try check(model)
    try store.write { session in
      for _ in 0..<3_000 {
        let index = random.below(model.count)
        try session.insert(.int(Int64(index)), at: index, in: place)
        model.insert(Int64(index), at: index)
      }
    }
    try check(model)
  }

  /// Pages whose numbers are all zero, or take one, two, four or eight bytes.
  @Test(arguments: [0, 1, 300, 70_000, Int64.max / 4])
  func `numbers of each width are changed in pages`(_ step: Int64) throws {
    var model = (0..<3_000).map { Int64($0 % 4) * step }
    try store.write { try $0.insert(model.map { .int($0) }, at: 0, in: place) }
    try store.write { session in
      for index in [2_990, 1_500, 1_499, 3] {
        try session.insert(.int(step), at: index, in: place)
        model.insert(step, at: index)
      }
      try session.set(.int(0), at: 700, in: place)
      model[700] = 0
    }
    try check(model)
  }

  /// Keys that begin alike, end in zeros, or are longer than what is compared first.
  @Test func keysWithTheSameBeginning() throws {
    let map = SequencePlace(classID: Self.things, key: place.key, column: ColumnID(2))
    let keys = (0..<900).flatMap { number in
      let key = "key-" + String(10_000_000 + number)
      return [key, key + "\0", key + "\0\0\0", key + "\0\0\0\0", key + "-and-more"]
    }
    try store.write { session in
      for (number, key) in keys.enumerated() where number % 3 != 0 {
        try session.set(.int(Int64(number)), forKey: key, inMap: map)
      }
    }
    let reader = try SnapshotReader(store.newestSnapshot())
    let sequence = try #require(try reader.sequence(at: map))
    let sorted = keys.indices.filter { $0 % 3 != 0 }.map { keys[$0] }.sorted()
    for _ in 0..<2 {
      for (number, key) in keys.enumerated() {
        let found = try sequence.find(key: key)
        #expect(found.isFound == (number % 3 != 0))
        #expect(found.index == sorted.partitioningIndex { $0 >= key })
      }
    }
  }

  /// Pages that lose most of their elements are put together with others.
  @Test mutating func removingLeavesNoSparsePages() throws {
    var model = (0..<50_000).map { Int64($0 % 5_000) }
    try store.write { try $0.insert(model.map { .int($0) }, at: 0, in: place) }
    for _ in 0..<20 {
      try store.write { session in
        for _ in 0..<60 where model.count > 800 {
          let first = random.below(model.count - 700)
          try session.remove(first..<first + 650, in: place)
          model.removeSubrange(first..<first + 650)
        }
      }
    }
    try check(model)
    let reader = try SnapshotReader(store.newestSnapshot())
    let pages = try #require(try reader.sequence(at: place)).pageList().labels.count
    #expect(pages <= 6)
  }

  /// A write looks only at the parts of the row counts that it needs.
  @Test mutating func editsAllOverADirectoryOfSeveralPages() throws {
    let texts = SequencePlace(classID: Self.things, key: place.key, column: ColumnID(1))
    func text(_ number: Int) -> Value {
      .string("\(number)" + String(repeating: "x", count: 180))
    }
    var model = (0..<20_000).map(text)
    try store.write { try $0.insert(model, at: 0, in: texts) }
    let sequence = try #require(
      try SnapshotReader(store.newestSnapshot()).sequence(at: texts))
    #expect(try sequence.countPages().count >= 3)
    for round in 0..<12 {
      try store.write { session in
        for edit in 0..<(round % 3 == 0 ? 1 : 5) {
          let index = random.below(model.count)
          switch random.below(4) {
          case 0:
            try session.insert(text(-edit), at: index, in: texts)
            model.insert(text(-edit), at: index)
          case 1:
            let end = min(model.count, index + random.below(round < 8 ? 40 : 4_000))
            try session.remove(index..<end, in: texts)
            model.removeSubrange(index..<end)
          case 2:
            let target = random.below(model.count)
            try session.move(from: index, to: target, in: texts)
            let moved = model.remove(at: index)
            model.insert(moved, at: target)
          default:
            try session.set(text(-1), at: index, in: texts)
            model[index] = text(-1)
          }
        }
      }
      let reader = try SnapshotReader(store.newestSnapshot())
      let now = try #require(try reader.sequence(at: texts))
      var found: [Value] = []
      try now.forEach(in: 0..<now.count) {
        found.append($0)
        return true
      }
      #expect(found == model, "round \(round)")
      #expect(SequenceCheck(reader).problems == [], "round \(round)")
    }
  }
}
