import Foundation
import Testing

@testable import Tarn

/// What a program that misuses sections is told before it stops.
struct SectionTrapTests: TrapSuite {
  private let shelter = Result { try Shelter() }
  private var folder: String { get throws { try shelter.get().folder } }

  @Test func withoutADescriptor() async throws {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { [folder = try folder as String] in
      let instance = try Shelter(within: folder).open()
      _ = instance.cats.sectioned(by: { $0.name }, sortDescriptors: [])
    }
    try expect("There must be at least one SortDescriptor", in: result)
  }

  @Test func sortedByAnotherProperty() async throws {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { [folder = try folder as String] in
      let instance = try Shelter(within: folder).open()
      _ = instance.cats.sectioned(by: \.name, sortDescriptors: ["age", "name"])
    }
    try expect("must match the primary sort descriptor's key path", in: result)
  }

  @Test func byALink() async throws {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { [folder = try folder as String] in
      let instance = try Shelter(within: folder).open()
      _ = instance.cats.sectioned(by: \.home)
    }
    try expect("Links are not supported as section keys", in: result)
  }

  @Test func byALinkFromABlock() async throws {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { [folder = try folder as String] in
      let instance = try Shelter(within: folder).open(cats: 1)
      let sections = instance.cats.sectioned(
        by: { AnyRealmValue.object($0) }, sortDescriptors: ["age"])
      print(sections.count)
    }
    try expect("Links are not supported as section keys", in: result)
  }

  @Test func ofAnUnmanagedList() async throws {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      _ = Kennel(1).hounds.sectioned(by: \.age)
    }
    try expect("Only collections which are managed by a Realm", in: result)
  }

  @Test func aSectionThatIsNotThere() async throws {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { [folder = try folder as String] in
      let instance = try Shelter(within: folder).open(cats: 2)
      print(instance.cats.sectioned(by: \.name)[2])
    }
    try expect("Index 2 is out of bounds (must be less than 2)", in: result)
  }

  @Test func aPositionInASectionThatWent() async throws {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { [folder = try folder as String] in
      let instance = try Shelter(within: folder).open(cats: 2)
      let section = instance.cats.sectioned(by: \.name)[0]
      try instance.write { instance.realm.delete(section[0]) }
      print(section[0])
    }
    try expect("Index 0 is out of bounds (must be less than 0)", in: result)
  }

  @Test func observingAfterAChangeInAWrite() async throws {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { [folder = try folder as String] in
      let instance = try Shelter(within: folder).open(cats: 2)
      let sections = instance.cats.sectioned(by: \.name)
      instance.realm.beginWrite()
      instance.realm.add(Cat(3))
      _ = sections.observe { _ in }
    }
    try expect("Cannot create asynchronous query after making changes", in: result)
  }

  @Test func afterItsRealmWasInvalidated() async throws {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { [folder = try folder as String] in
      let instance = try Shelter(within: folder).open(cats: 2)
      let sections = instance.cats.sectioned(by: \.name)
      instance.realm.invalidate()
      print(sections.count)
    }
    try expect("has been invalidated with its Realm", in: result)
  }

  /// What a block that says keys does although it may only read.
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

  @Test(arguments: Deed.allCases)
  func aKeyThatDoesMoreThanReading(_ deed: Deed) async throws {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { [folder = try folder as String, deed = deed as Deed] in
      try deed.make(in: try Shelter(within: folder).open(cats: 2))
    }
    try expect(deed.message + " while the keys of sections are worked out", in: result)
  }
}
