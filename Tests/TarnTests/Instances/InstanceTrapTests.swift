import Foundation
import TestSupport
import Testing

@testable import Tarn

/// What a program is told that opens, moves or ends an instance where it must not.
struct InstanceTrapTests: TrapSuite {
  private let shelter = Result { try Shelter() }
  private var folder: String { get throws { try shelter.get().folder } }

  /// A mistake while an instance of the file is open, with the configuration of that instance.
  private static func row(
    _ name: String, _ message: String,
    _ mistake: @escaping @Sendable (Instance, inout Realm.Configuration) throws -> Void
  ) -> TrapCase {
    TrapCase(name, message) { shelter in
      let instance = try shelter.open()
      var configuration = shelter.configuration
      try mistake(instance, &configuration)
      withExtendedLifetime(instance) {}
    }
  }

  /// A mistake on another thread than that of the instance.
  private static func elsewhere(
    _ name: String, _ message: String,
    _ mistake: @escaping @Sendable (ManualScheduler, NotificationToken, Realm.Configuration) -> Void
  ) -> TrapCase {
    row(name, message) { instance, configuration in
      let (scheduler, same) = (instance.scheduler, configuration)
      let token = instance.realm.observe { _, _ in }
      let done = DispatchSemaphore(value: 0)
      Thread.detachNewThread {
        mistake(scheduler, token, same)
        done.signal()
      }
      done.wait()
    }
  }

  static let traps: [TrapCase] = [
    row("other permissions", "already opened with different read permissions") {
      $1.readOnly = true
      _ = try Realm(configuration: $1, scheduler: $0.scheduler)
    },
    row("no file", "A configuration needs a fileURL or an inMemoryIdentifier.") {
      $1.fileURL = nil
      _ = try Realm(configuration: $1)
    },
    row("contradictory classes", "'Home'") {
      $1.objectTypes = [Cat.self]
      _ = try Realm(configuration: $1)
    },
    row("contradictory classes to migrate to", "'Home'") {
      $1.objectTypes = [Cat.self]
      try Realm.performMigration(for: $1)
    },
    row("a write of a read-only Realm", "Can't perform transactions on read-only Realms.") {
      $1.readOnly = true
      try Realm(configuration: $1, scheduler: ManualScheduler()).write {}
    },
    row("too many versions", "in the Realm exceeded the limit of 1") {
      var limited = $1
      limited.maximumNumberOfActiveVersions = 1
      let writer = try Realm(configuration: limited, scheduler: ManualScheduler())
      var pins: [Realm] = []
      for _ in 0..<3 {
        let pin = try Realm(configuration: $1, scheduler: ManualScheduler())
        _ = pin.objects(Cat.self).count
        pins.append(pin)
        try writer.write { writer.add(Home("x")) }
      }
      withExtendedLifetime(pins) {}
    },
    elsewhere("pumped elsewhere", "A ManualScheduler must be pumped on its own thread") {
      scheduler, _, _ in scheduler.pump()
    },
    elsewhere("not the main queue", "this is not the main queue") {
      _ = try? Realm(configuration: $2, queue: .main)
    },
    elsewhere("not its queue", "call this on 'another'") {
      _ = try? Realm(configuration: $2, queue: DispatchQueue(label: "another"))
    },
    elsewhere("a token ended elsewhere", "must be invalidated on the Realm's thread") {
      _, token, _ in token.invalidate()
    },
  ]

  @Test(arguments: traps.map(\.name))
  func stops(_ name: String) async throws {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      [folder = try folder as String, name] in
      try await InstanceTrapTests.traps.named(name).run(Shelter(within: folder))
    }
    try expect(Self.traps.named(name).message, in: result)
  }
}
