import TestSupport
import Testing

@testable import Tarn

/// Random changes of lists, sets and maps of everything that an element can be, by two instances,
/// under observers of the collections, of windows on them, of windows on windows, and of sections.
/// Whatever they are told leads from what they showed before to what they show now.
struct ElementKindModelTests {
  @Test(arguments: Seeds.of(1...10, first: 1))
  func whatObserversAreToldLeadsToWhatTheyShow(seed: Int) throws {
    let shelter = try Shelter()
    let instances = [try shelter.openTrays(), try shelter.openTrays()]
    var run = TrayRun(instances, seed: UInt64(seed))
    for _ in 0..<50 { try run.step() }
    try run.finish()
  }
}

private struct TrayRun {
  private let instances: [Instance]
  private var numbers: SeededRandom
  private let kinds = ElementKind.all
  /// By instance and kind.
  private var watches: [[[ElementWatch]]]

  init(_ instances: [Instance], seed: UInt64) {
    self.instances = instances
    numbers = SeededRandom(seed: seed)
    let kinds = kinds
    for instance in instances { instance.realm.refresh() }
    watches = instances.map { instance in kinds.map { $0.watch(Self.tray(instance)) } }
  }

  private static func tray(_ instance: Instance) -> Tray {
    instance.realm.object(ofType: Tray.self, forPrimaryKey: 1)!
  }

  /// A write, turns, or observers that end and begin again.
  mutating func step() throws {
    let index = numbers.below(instances.count)
    let instance = instances[index]
    switch numbers.below(8) {
    case 0...4: try write(instance)
    case 5, 6: instance.pump()
    default:
      let kind = numbers.below(kinds.count)
      check(watches[index][kind], kinds[kind].name)
      for watch in watches[index][kind] { watch.end() }
      watches[index][kind] = kinds[kind].watch(Self.tray(instance))
    }
  }

  private mutating func write(_ instance: Instance) throws {
    instance.realm.beginWrite()
    let tray = Self.tray(instance)
    for kind in kinds {
      for _ in 0..<numbers.below(4) { kind.change(tray, &numbers) }
    }
    let grains = instance.realm.objects(Grain.self)
    if numbers.chance(50) { grains[numbers.below(4)].weight = numbers.below(9) }
    if numbers.chance(20), let chip = tray.chips.last { chip.weight = numbers.below(9) }
    if numbers.chance(10) {
      let id = grains[0].id
      instance.realm.delete(grains[0])
      instance.realm.create(Grain.self, value: ["id": id])
    }
    if numbers.chance(10) { return instance.realm.cancelWrite() }
    try instance.realm.commitWrite()
  }

  private func check(_ watches: [ElementWatch], _ kind: String) {
    for watch in watches { #expect(watch.problems() == [], "\(kind), \(watch.name)") }
  }

  private func checkAll() {
    for (number, kind) in kinds.enumerated() {
      for watch in watches.flatMap({ $0[number] }) {
        #expect(watch.problems() == [], "\(kind.name), \(watch.name)")
        #expect(watch.isUpToDate(), "\(kind.name), \(watch.name)")
        #expect(watch.calls() > 0, "\(kind.name), \(watch.name)")
      }
    }
  }

  /// At last the owner of the collections goes.
  func finish() throws {
    func settle() {
      for instance in instances { instance.realm.refresh() }
      for instance in instances { instance.pump() }
      checkAll()
    }
    settle()
    try instances[0].write { instances[0].realm.delete(Self.tray(instances[0])) }
    settle()
    for watch in watches.flatMap({ $0.flatMap { $0 } }) { watch.end() }
  }
}
