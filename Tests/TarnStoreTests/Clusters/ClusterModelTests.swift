import TarnStore
import TestSupport
import Testing

/// Random operations on clusters against a dictionary of rows.
@Suite struct ClusterModelTests {
  @Test(arguments: [1, 2, 3, 5, 8, 13, 21, 34] as [UInt64])
  func clustersAgreeWithANaiveModelOverManyEdits(seed: UInt64) throws {
    var dice = SeededRandom(seed: seed)
    var model = ClusterModel(ClusterFixture.allTypes)
    for round in 0..<60 {
      try edit(&model, &dice, operations: 1 + dice.below(round % 7 == 0 ? 200 : 12))
      if round % 4 == 3 { try model.check() }
    }
    try model.check()
  }

  /// Takes one image, edits it, and puts back what it became.
  private func edit(
    _ model: inout ClusterModel, _ dice: inout SeededRandom, operations: Int
  ) throws {
    let index = model.images.isEmpty ? 0 : dice.below(model.images.count)
    var cluster = WorkingCluster(model.schema)
    var low = Int64.min
    var high = Int64.max
    if !model.images.isEmpty {
      cluster = try ClusterFixture.validated(model.images[index].bytes) {
        try WorkingCluster($0, model.schema)
      }
      if index > 0 { low = model.images[index].first.rawValue }
      if index + 1 < model.images.count { high = model.images[index + 1].first.rawValue - 1 }
    }
    let updatesOnly = dice.chance(40)
    for _ in 0..<operations {
      step(cluster, &model, &dice, keys: low...high, updatesOnly: updatesOnly)
      cluster.checkInvariants()
    }
    try compare(cluster, model)
    var images: [(first: ObjectKey, bytes: [UInt8])] = []
    if dice.chance(20) && cluster.rowCount > 1 {
      let upper = cluster.split(at: dice.below(cluster.rowCount))
      cluster.checkInvariants()
      upper.checkInvariants()
      images = try model.encode(cluster)
      #expect(upper.droppedLongValues.isEmpty)
      images += try model.encode(upper)
    } else {
      images = try model.encode(cluster)
    }
    if !model.images.isEmpty { model.images.remove(at: index) }
    model.images.insert(contentsOf: images, at: index)
  }

  private func step(
    _ cluster: WorkingCluster, _ model: inout ClusterModel, _ dice: inout SeededRandom,
    keys: ClosedRange<Int64>, updatesOnly: Bool
  ) {
    let choice = updatesOnly && cluster.rowCount > 0 ? 99 : dice.below(100)
    if choice < 30 || cluster.rowCount == 0 {
      var key = dice.chance(60) ? Int64(dice.below(3_000)) : ClusterFixture.number(&dice)
      if dice.chance(50), cluster.rowCount > 0 {
        key = cluster.key(at: cluster.rowCount - 1).rawValue &+ 1
      }
      guard keys.contains(key), model.rows[key] == nil else { return }
      let slot = cluster.insert(ObjectKey(key))
      #expect(cluster.key(at: slot).rawValue == key)
      var row = model.schema.columns.map(ClusterFixture.zero)
      row[0] = .int(key)
      model.rows[key] = row
      if dice.chance(30) { return }
      for column in model.schema.columns.dropFirst() where dice.chance(80) {
        set(cluster, &model, slot, column, &dice)
      }
    } else if choice < 40 {
      let slot = dice.below(cluster.rowCount)
      model.rows[cluster.key(at: slot).rawValue] = nil
      cluster.remove(at: slot)
    } else {
      let column = model.schema.columns[1 + dice.below(model.schema.columns.count - 1)]
      set(cluster, &model, dice.below(cluster.rowCount), column, &dice)
    }
  }

  private func set(
    _ cluster: WorkingCluster, _ model: inout ClusterModel, _ slot: Int, _ column: ColumnSchema,
    _ dice: inout SeededRandom
  ) {
    let value = ClusterFixture.value(column, &dice)
    cluster.set(column.id, slot, value)
    model.rows[cluster.key(at: slot).rawValue]![column.id.index] = value
  }

  private func compare(_ cluster: WorkingCluster, _ model: ClusterModel) throws {
    for slot in 0..<cluster.rowCount {
      let key = cluster.key(at: slot)
      #expect(cluster.slot(of: key) == slot)
      for column in model.schema.columns {
        let value = try model.resolved(cluster.value(column, slot), key, column)
        try #require(value == model.rows[key.rawValue]?[column.id.index])
      }
    }
  }

  @Test(arguments: [4, 44] as [UInt64])
  func sealingWhileAppendingLeavesFullImagesAndLosesNothing(seed: UInt64) throws {
    var dice = SeededRandom(seed: seed)
    var model = ClusterModel(ClusterFixture.allTypes)
    let cluster = WorkingCluster(model.schema)
    for key in 0..<Int64(2_000) {
      let slot = cluster.insert(ObjectKey(3 * key))
      var row = model.schema.columns.map(ClusterFixture.zero)
      row[0] = .int(3 * key)
      model.rows[3 * key] = row
      for column in model.schema.columns.dropFirst() {
        set(cluster, &model, slot, column, &dice)
      }
      if cluster.rowCount >= cluster.targetRows {
        model.images += try model.encode(cluster, seal: true)
        try compare(cluster, model)
      }
    }
    let sealed = model.images.dropFirst()
    #expect(sealed.allSatisfy { $0.bytes.count > 3_500 })
    model.images += try model.encode(cluster)
    try model.check()
  }
}
