import Foundation
import Testing

@testable import Tarn

/// What a program that misuses sections is told before it stops.
struct SectionTrapTests: TrapSuite {
  private let shelter = Result { try Shelter() }
  private var folder: String { get throws { try shelter.get().folder } }

  static let traps: [TrapCase] = [
    TrapCase("sectioning without a sort descriptor", "There must be at least one SortDescriptor") {
      shelter in
      let instance = try shelter.open()
      _ = instance.cats.sectioned(by: { $0.name }, sortDescriptors: [])
    },
    TrapCase(
      "sectioning by a property that is not the first sort key",
      "must match the primary sort descriptor's key path"
    ) { shelter in
      let instance = try shelter.open()
      _ = instance.cats.sectioned(by: \.name, sortDescriptors: ["age", "name"])
    },
    TrapCase("sectioning by a link", "Links are not supported as section keys") { shelter in
      let instance = try shelter.open()
      _ = instance.cats.sectioned(by: \.home)
    },
    TrapCase("a key block that returns a link", "Links are not supported as section keys") {
      shelter in
      let instance = try shelter.open(cats: 1)
      let sections = instance.cats.sectioned(
        by: { AnyRealmValue.object($0) }, sortDescriptors: ["age"])
      print(sections.count)
    },
    TrapCase("sectioning an unmanaged list", "Only collections which are managed by a Realm") { _ in
      _ = Kennel(1).hounds.sectioned(by: \.age)
    },
    TrapCase(
      "the index of a section out of bounds", "Index 2 is out of bounds (must be less than 2)"
    ) { shelter in
      let instance = try shelter.open(cats: 2)
      print(instance.cats.sectioned(by: \.name)[2])
    },
    TrapCase("an index in a section that is gone", "Index 0 is out of bounds (must be less than 0)")
    { shelter in
      let instance = try shelter.open(cats: 2)
      let section = instance.cats.sectioned(by: \.name)[0]
      try instance.write { instance.realm.delete(section[0]) }
      print(section[0])
    },
    TrapCase(
      "observing after a change in a write", "Cannot create asynchronous query after making changes"
    ) { shelter in
      let instance = try shelter.open(cats: 2)
      let sections = instance.cats.sectioned(by: \.name)
      instance.realm.beginWrite()
      instance.realm.add(Cat(3))
      _ = sections.observe { _ in }
    },
    TrapCase("reading after the Realm was invalidated", "has been invalidated with its Realm") {
      shelter in
      let instance = try shelter.open(cats: 2)
      let sections = instance.cats.sectioned(by: \.name)
      instance.realm.invalidate()
      print(sections.count)
    },
  ]

  /// Blocks that do more than return a key.
  static let keyTraps: [TrapCase] = Deed.allCases.map { deed in
    TrapCase(
      "a key block that does more than read: \(deed)",
      deed.message + " while section keys are computed"
    ) { try deed.make(in: $0.open(cats: 2)) }
  }

  @Test(arguments: (traps + keyTraps).map(\.name))
  func stops(_ name: String) async throws {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { [folder = try folder as String, name] in
      try await (SectionTrapTests.traps + SectionTrapTests.keyTraps).named(name).run(
        Shelter(within: folder))
    }
    try expect((Self.traps + Self.keyTraps).named(name).message, in: result)
  }

  /// What a block that returns keys does although it may only read.
  enum Deed: String, CaseIterable, Codable {
    case write, change, commit, cancel, refresh, invalidate, changeWhileTold

    var message: String {
      switch self {
      case .write, .changeWhileTold: "Cannot begin a write transaction"
      case .change: "Cannot modify managed objects"
      case .commit: "Cannot commit the write transaction"
      case .cancel: "Cannot cancel the write transaction"
      case .refresh: "Cannot refresh the Realm"
      case .invalidate: "Cannot invalidate the Realm"
      }
    }

    func make(in instance: Instance) throws {
      let realm = instance.realm
      var isReady = self != .changeWhileTold
      let sections = instance.cats.sectioned(
        by: { cat -> String in
          guard isReady else { return cat.name }
          switch self {
          case .write, .changeWhileTold: try? realm.write { cat.age += 1 }
          case .change: cat.age += 1
          case .commit: try? realm.commitWrite()
          case .cancel: realm.cancelWrite()
          case .refresh: realm.refresh()
          case .invalidate: realm.invalidate()
          }
          return cat.name
        }, sortDescriptors: ["age"])
      if self == .changeWhileTold {
        let token = sections.observe { _ in }
        instance.pump()
        isReady = true
        try instance.write { instance.realm.add(Cat(7)) }
        instance.pump()
        token.invalidate()
      }
      if [.change, .commit, .cancel].contains(self) { realm.beginWrite() }
      print(sections.count)
    }
  }
}
