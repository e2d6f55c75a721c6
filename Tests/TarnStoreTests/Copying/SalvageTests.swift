import Foundation
import TestSupport
import Testing

@testable import TarnStore

@Suite struct SalvageTests {
  private let folder = TemporaryStore()
  private var damaged: String { folder.folder.file("damaged.realm") }

  private func rows(_ state: SalvagedState) throws -> Set<ObjectKey> {
    var keys: Set<ObjectKey> = []
    try state.reader.forEachCluster(in: ClassID(0)) { found throws(StorageError) in
      for slot in 0..<found.image.rowCount { keys.insert(found.image.key(at: slot)) }
      return true
    }
    return keys
  }

  /// One page is destroyed at a time: nothing else is lost, and no deleted row comes back.
  @Test func `whatever page is destroyed, the rest is read`() throws {
    try CopiedStores(folder, objects: 600).cursor.release()
    let sound = [UInt8](try Data(contentsOf: URL(fileURLWithPath: folder.path)))
    let all = try rows(Salvage(folder.path, besides: damaged).states[0])
    #expect(all.count == 550)
    var withLoss = 0
    for page in 2..<sound.count / 4096 {
      var bytes = sound
      for offset in 0..<4096 { bytes[page * 4096 + offset] = 0x5a }
      try Data(bytes).write(to: URL(fileURLWithPath: damaged))
      let salvage = try Salvage(damaged, besides: damaged)
      guard let newest = salvage.states.first else {
        Issue.record("page \(page): \(salvage.problems)")
        continue
      }
      let found = try rows(newest)
      #expect(found.isSubset(of: all), "page \(page)")
      let missing = all.subtracting(found)
      if missing.isEmpty { continue }
      withLoss += 1
      let ranges = newest.lostRows.map(\.keys)
      #expect(missing.allSatisfy { key in ranges.contains { $0.contains(key) } }, "page \(page)")
      #expect(found.allSatisfy { key in !ranges.contains { $0.contains(key) } }, "page \(page)")
    }
    #expect(withLoss > 0)
  }

  @Test func `random bytes anywhere never stop it`() throws {
    try CopiedStores(folder).cursor.release()
    let sound = [UInt8](try Data(contentsOf: URL(fileURLWithPath: folder.path)))
    var random = SeededRandom(seed: 5)
    for _ in 0..<40 {
      var bytes = sound
      for _ in 0..<100 {
        bytes[Int.random(in: 8192..<bytes.count, using: &random)] = .random(
          in: 0...255, using: &random)
      }
      try Data(bytes).write(to: URL(fileURLWithPath: damaged))
      do {
        for state in try Salvage(damaged, besides: damaged).states { _ = try rows(state) }
      } catch let error as StorageError {
        // A byte may make a format that is not known.
        #expect([.corrupted, .newerFormat].contains(error.code), "\(error)")
      }
    }
  }
}
