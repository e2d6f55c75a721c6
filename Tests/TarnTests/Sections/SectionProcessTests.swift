import Foundation
import TestSupport
import Testing

@testable import Tarn

/// What sections, distinct results and frozen objects make of the commits of another process.
struct SectionProcessTests {
  private typealias Sections = SectionedResults<Int, Hound>

  private static func open(_ folder: String) throws -> Instance {
    try Instance(
      Realm.Configuration(
        fileURL: URL(fileURLWithPath: folder + "/kennels.realm"),
        objectTypes: [Kennel.self, Hound.self, Yard.self, Ticket.self], durability: .relaxed))
  }

  /// Random commits once the other process observes, and a yard as the last one.
  static func writeOnceObserved(_ folder: String, seed: UInt64) throws {
    precondition(waitUntil { FileManager.default.fileExists(atPath: folder + "/ready") })
    let instance = try open(folder)
    var operations = KennelOperations(numbers: SeededRandom(seed: seed))
    for _ in 0..<150 {
      try instance.write {
        for _ in 0...operations.numbers.below(5) { operations.apply(to: instance) }
      }
    }
    try instance.write { instance.realm.add(Yard(99)) }
  }

  @Test(arguments: [1, 2] as [UInt64])
  func anotherProcessCommits(seed: UInt64) async throws {
    let folder = TemporaryFolder()
    do {
      let instance = try Self.open(folder.path)
      try instance.write {
        instance.realm.add(Kennel(1))
        for id in 0..<3 { instance.realm.add(Yard(id)) }
      }
    }
    let (observerSaid, writerSaid) = (KeptErrors(in: folder.path), KeptErrors(in: folder.path))
    async let observer = #expect(processExitsWith: .success) {
      [path = folder.path as String, said = observerSaid as KeptErrors] in
      said.keep()
      try SectionProcessTests.follow(path)
    }
    async let writer = #expect(processExitsWith: .success) {
      [path = folder.path as String, seed = seed as UInt64, said = writerSaid as KeptErrors] in
      said.keep()
      try SectionProcessTests.writeOnceObserved(path, seed: seed)
    }
    observerSaid.tell(await observer)
    writerSaid.tell(await writer)
  }

  /// What the other process does: it observes until the last commit has come.
  static func follow(_ folder: String) throws {
    let instance = try open(folder)
    let hounds = instance.realm.objects(Hound.self)
    let all: [Sections] = [
      instance.kennel.hounds.sectioned(by: \.age, sortDescriptors: ["age", "id"]),
      instance.kennel.pack.sectioned(by: { $0.name.count % 3 }, sortDescriptors: ["id"]),
      hounds.distinct(by: ["age"]).sectioned(by: { $0.age % 2 }, sortDescriptors: ["age"]),
    ]
    let recorders = all.map { SectionRecorder($0) { $0.text } }
    let distinct = SequenceRecorder(hounds.sorted(by: \.id).distinct(by: ["age"])) { $0.text }
    let pack = SequenceRecorder(instance.kennel.pack) { $0.text }
    instance.pump()
    try Data().write(to: URL(fileURLWithPath: folder + "/ready"))
    var frozen: [(sections: Sections, text: [[String]])] = []
    let end = ContinuousClock.now + .seconds(300)
    while instance.yard(99) == nil, ContinuousClock.now < end {
      instance.scheduler.wait(timeout: 1)
      instance.pump()
      if frozen.count < 20 {
        for sections in all { frozen.append((sections.freeze(), text(sections))) }
      }
    }
    instance.pump()
    precondition(instance.yard(99) != nil, "the last commit did not come")
    for (sections, recorder) in zip(all, recorders) {
      precondition(recorder.problems == [] && recorder.calls.count > 1, "\(recorder.problems)")
      precondition(recorder.mirror.map(\.rows) == text(sections), "\(recorder.mirror)")
    }
    precondition(distinct.problems + pack.problems == [])
    for (sections, text) in frozen {
      precondition(self.text(sections) == text, "what is frozen changed")
      precondition(sections.thaw()?.realm == instance.realm)
    }
    withExtendedLifetime((recorders, distinct, pack)) {}
  }

  private static func text(_ sections: Sections) -> [[String]] {
    sections.map { $0.map(\.text) }
  }
}
