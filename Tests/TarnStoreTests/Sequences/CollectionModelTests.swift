import TestSupport
import Testing

@testable import TarnStore

/// Lists, sets and maps against arrays.
@Suite struct CollectionModelTests {
  @Test(arguments: [CollectionKind.list, .set, .map], Seeds.of([1, 2, 3, 4, 5, 6] as [UInt64]))
  func `a sequence agrees with an array`(_ kind: CollectionKind, _ seed: UInt64) throws {
    let temporary = TemporaryStore()
    let store = try temporary.open(CollectionModel.classes(kind))
    var model = try CollectionModel(store, kind, seed: seed, sizeMax: seed % 2 == 0 ? 40 : 900)
    for round in 0..<12 {
      try model.write(steps: round % 3 == 0 ? 3 : 60, round % 5 == 3 ? .cancel : .commit)
      try model.checkFile()
    }
  }
}
