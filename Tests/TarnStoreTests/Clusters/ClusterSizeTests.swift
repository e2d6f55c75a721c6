import TarnStore
import TestSupport
import Testing

/// How rows are cut into images, and what stays as it is.
@Suite struct ClusterSizeTests {
  private let person = ClusterFixture.schema([
    (.int, false), (.string, false), (.int, false), (.double, false), (.string, true),
  ])

  private func fill(_ cluster: WorkingCluster, _ model: inout ClusterModel, _ keys: [Int64]) {
    for key in keys {
      let slot = cluster.insert(ObjectKey(key))
      let row: [Value] = [
        .int(key), .string("name number \(key)"), .int(key % 90), .double(Double(key) / 7),
        key % 3 == 0 ? .null : .string("city \(key % 40)"),
      ]
      for column in person.columns { cluster.set(column.id, slot, row[column.id.index]) }
      model.rows[key] = row
    }
  }

  @Test func rowsAddedAtTheEndLeaveFullImages() throws {
    var model = ClusterModel(person)
    let cluster = WorkingCluster(person)
    fill(cluster, &model, Array(0..<5_000))
    model.images = try model.encode(cluster)
    try model.check()
    #expect(model.images.dropLast().allSatisfy { $0.bytes.count > 3_800 })
  }

  @Test func rowsAddedInBetweenAreCutIntoEqualParts() throws {
    var model = ClusterModel(person)
    let cluster = WorkingCluster(person)
    fill(cluster, &model, (0..<900).map { ($0 * 367) % 900 })
    model.images = try model.encode(cluster)
    try model.check()
    let sizes = model.images.map(\.bytes.count)
    try #require(sizes.count > 5)
    #expect(sizes.max()! < sizes.min()! * 5 / 4)
  }

  @Test func rowsWithoutValuesStayBelowTheMostRowsOfAnImage() throws {
    var model = ClusterModel(person)
    let cluster = WorkingCluster(person)
    for key in 0..<Int64(3_000) {
      cluster.insert(ObjectKey(key))
      model.rows[key] = person.columns.map(ClusterFixture.zero)
    }
    model.images = try model.encode(cluster)
    try model.check()
    #expect(model.images.map(\.bytes.count) == [40, 40, 40])
  }

  @Test func theFirstRowRemovedFromAFullImageDoesNotCutIt() throws {
    var model = ClusterModel(person)
    let cluster = WorkingCluster(person)
    fill(cluster, &model, Array(0..<1_000))
    let full = try model.encode(cluster)[2].bytes
    try ClusterFixture.validated(full) { image in
      let edited = try WorkingCluster(image, person)
      edited.remove(at: 40)
      #expect(try model.encode(edited).count == 1)
    }
  }

  @Test func aValueThatFitsChangesNothingElse() throws {
    var model = ClusterModel(person)
    let cluster = WorkingCluster(person)
    fill(cluster, &model, Array(0..<60))
    let before = try model.encode(cluster)[0].bytes
    let after = try ClusterFixture.validated(before) { image in
      let edited = try WorkingCluster(image, person)
      edited.setInt(ColumnID(2), 7, 55)
      #expect(edited.int(ColumnID(2), 7) == 55)
      #expect(edited.int(ColumnID(2), 8) == 8)
      return try model.encode(edited)[0].bytes
    }
    let changed = before.indices.filter { before[$0] != after[$0] }
    #expect(changed.filter { $0 >= 12 }.count == 1)
    try ClusterFixture.validated(after) { try $0.verifyChecksum() }
  }

  /// Strings of all lengths into an image that is read as it is: plain and dictionary columns, with
  /// and without nulls, shorter and longer, until the image is full and rows must be encoded anew.
  @Test(arguments: [1, 2, 3] as [UInt64])
  func stringsReplaceOthers(seed: UInt64) throws {
    var dice = SeededRandom(seed: seed)
    var model = ClusterModel(person)
    let cluster = WorkingCluster(person)
    fill(cluster, &model, (0..<50).map { $0 * 3 })
    model.images = try model.encode(cluster)
    for round in 0..<80 {
      let index = dice.below(model.images.count)
      try ClusterFixture.validated(model.images[index].bytes) { image in
        let edited = try WorkingCluster(image, person)
        for _ in 0..<1 + dice.below(4) {
          let slot = dice.below(edited.rowCount)
          let column = ColumnID(dice.chance(50) ? 1 : 4)
          let length = dice.below(round < 20 ? 24 : 256)
          let text = dice.chance(30) ? "city 7" : String(repeating: "abc", count: length / 3)
          edited.setString(column, slot, text)
          model.rows[edited.key(at: slot).rawValue]![column.index] = .string(text)
        }
        model.images.replaceSubrange(index...index, with: try model.encode(edited))
      }
      try model.check()
      for image in model.images {
        try ClusterFixture.validated(image.bytes) { image in
          try image.verifyChecksum()
          try image.checkRows(person)
        }
      }
    }
    #expect(model.images.count > 1)
  }

  @Test func aStringOfTheClusterItselfCanBePutElsewhereInIt() throws {
    var model = ClusterModel(person)
    let cluster = WorkingCluster(person)
    fill(cluster, &model, [1, 2, 30])
    let bytes = try model.encode(cluster)[0].bytes
    try ClusterFixture.validated(bytes) { image in
      let edited = try WorkingCluster(image, person)
      guard case .inline(let own) = edited.bytes(ColumnID(1), 2) else {
        Issue.record("a short string is inline")
        return
      }
      edited.setBytes(ColumnID(1), 0, own)
      model.rows[1]![1] = model.rows[30]![1]
      model.images = try model.encode(edited)
    }
    try model.check()
  }

  @Test func aValueTakenAwayReadsAsZero() throws {
    let schema = ClusterFixture.schema([(.int, true)])
    let cluster = WorkingCluster(schema)
    for key in 0..<Int64(3) {
      let slot = cluster.insert(ObjectKey(key))
      if key > 0 { cluster.setInt(ColumnID(0), slot, 5 + key) }
    }
    var model = ClusterModel(schema)
    try ClusterFixture.validated(try model.encode(cluster)[0].bytes) { image in
      let edited = try WorkingCluster(image, schema)
      edited.setNull(ColumnID(0), 1)
      #expect(edited.int(ColumnID(0), 1) == 0)
      #expect(edited.isNull(ColumnID(0), 1))
      edited.setInt(ColumnID(0), 2, 1 << 40)
      #expect(edited.int(ColumnID(0), 1) == 0)
      #expect(edited.isNull(ColumnID(0), 1))
    }
  }

  @Test func encodingTwiceHandsOutALongValueOnce() throws {
    var model = ClusterModel(person)
    let cluster = WorkingCluster(person)
    fill(cluster, &model, [1, 2])
    let text = String(repeating: "long", count: 200)
    cluster.setString(ColumnID(1), 0, text)
    model.rows[1]![1] = .string(text)
    _ = try model.encode(cluster)
    cluster.setInt(ColumnID(0), 1, 9)
    model.rows[2]![0] = .int(9)
    model.images = try model.encode(cluster)
    #expect(model.longs.count == 1)
    try model.check()
  }
}
