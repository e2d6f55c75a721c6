import TestSupport
import Testing

@testable import Tarn
@testable import TarnStore

/// Copies that are made from batches only equal what the store has.
@Suite struct FeedModelTests {
  /// What a consumer asks for, and how it compares its copies.
  struct Consumer: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let selection: CursorSelection
    var limit = BatchLimit.none
    /// Only what a consumer with key paths is told.
    var dog: @Sendable (FedDog) -> String = { $0.copy }

    func apply(_ batch: ChangeBatch, to copies: inout FedCopies) {
      if batch.fullResync != nil {
        copies = FedCopies()
        copies.begin(batch.objects(FedDog.self), batch[FedDog.self], dog)
        copies.begin(batch.objects(FedPerson.self), batch[FedPerson.self])
        copies.begin(batch.objects(FedNote.self), batch[FedNote.self])
        return
      }
      copies.apply(batch[FedDog.self], dog)
      copies.apply(batch[FedPerson.self])
      copies.apply(batch[FedNote.self])
    }

    func all(_ batch: ChangeBatch) -> FedCopies {
      var copies = FedCopies()
      copies.begin(batch.objects(FedDog.self), batch[FedDog.self], dog)
      copies.begin(batch.objects(FedPerson.self), batch[FedPerson.self])
      copies.begin(batch.objects(FedNote.self), batch[FedNote.self])
      return copies
    }
  }

  static let consumers = [
    Consumer(testDescription: "whole Realm", selection: .wholeRealm),
    Consumer(testDescription: "each commit", selection: .wholeRealm, limit: .everyCommit),
    Consumer(
      testDescription: "three commits", selection: .wholeRealm, limit: BatchLimit(commits: 3)),
    Consumer(
      testDescription: "bytes", selection: .objects(of: FedDog.self),
      limit: BatchLimit(bytes: 400)),
    Consumer(
      testDescription: "own property",
      selection: .objects(of: FedDog.self) { $0.age > 3 }
        .adding(.objects(of: FedPerson.self) { $0.rank < 3 })),
    Consumer(
      testDescription: "own property, each commit",
      selection: .objects(of: FedDog.self) { $0.age > 3 }, limit: .everyCommit),
    Consumer(
      testDescription: "behind a link",
      selection: .objects(of: FedDog.self) { $0.owner.rank > 1 }
        .adding(.objects(of: FedNote.self) { $0.about.age < 5 })),
    Consumer(
      testDescription: "behind a link, two commits",
      selection: .objects(of: FedDog.self) { $0.owner.rank > 1 }, limit: BatchLimit(commits: 2)),
    Consumer(
      testDescription: "elements",
      selection: .objects(of: FedPerson.self) { $0.dogs.age > 4 }),
    Consumer(
      testDescription: "embedded",
      selection: .objects(of: FedDog.self) { $0.kennel.city == "a" }),
    Consumer(
      testDescription: "a key path", selection: .objects(of: FedDog.self, keyPaths: ["name"]),
      dog: { "\($0.id) \($0.name)" }),
    Consumer(
      testDescription: "a key path behind a link",
      selection: .objects(of: FedDog.self, keyPaths: ["owner.rank", "age"]) { $0.age > 1 },
      dog: { "\($0.id) \($0.age) \($0.owner?.rank ?? -1)" }),
  ]

  @Test(arguments: consumers, Seeds.of(1...9))
  func copiesEqualTheStore(of consumer: Consumer, seed: Int) throws {
    let shelter = try Shelter()
    shelter.moreTypes = [FedDog.self, FedPerson.self, FedNote.self, FedAddress.self, FedRoom.self]
    let instance = try shelter.open()
    let realm = instance.realm
    var program = FedProgram(seed: seed)
    let memory = try MemoryCursor(realm, of: consumer.selection)
    var cursor = memory.cursor
    var (copies, compared, repeated) = (FedCopies(), 0, 0)
    for _ in 0..<40 {
      for _ in 0..<1 + program.random.below(4) { try program.commit(realm) }
      while let batch = try cursor.next(limit: consumer.limit) {
        consumer.apply(batch, to: &copies)
        if batch.isRepeated { repeated += 1 }
        if program.random.chance(35) {
          // It dies after it has applied the batch and before it acknowledges it.
          cursor = try memory.reopened(of: consumer.selection)
          if program.random.chance(50) { break }
          continue
        }
        if batch.changes.reachesNewest {
          let wrong = copies.differences(from: consumer.all(batch))
          #expect(wrong == [], "version \(batch.to)")
          compared += 1
        }
        try batch.acknowledge()
      }
    }
    #expect(compared > 1)
    // Few commits concern elements.
    #expect(repeated > 0 || consumer.testDescription == "elements")
  }
}
