import Foundation
import TestSupport
import Testing

@testable import Tarn

/// What a program is told that opens, moves or ends an instance where it must not.
struct InstanceTrapTests: TrapSuite {
  private let folder = TemporaryFolder()

  enum Mistake: String, CaseIterable, Codable {
    case otherPermissions, noFile, contradictoryClasses, contradictoryClassesToMigrate
    case readOnlyWrite, tooManyVersions
    case pumpedElsewhere, notTheMainQueue, notItsQueue
    case tokenEndedElsewhere

    /// What the message says.
    var message: String {
      switch self {
      case .otherPermissions: "already opened with different read permissions"
      case .noFile: "A configuration needs a fileURL or an inMemoryIdentifier."
      case .contradictoryClasses, .contradictoryClassesToMigrate: "'Home'"
      case .readOnlyWrite: "Can't perform transactions on read-only Realms."
      case .tooManyVersions: "in the Realm exceeded the limit of 1"
      case .pumpedElsewhere: "A ManualScheduler must be pumped on its own thread"
      case .notTheMainQueue: "this is not the main queue"
      case .notItsQueue: "call this on 'another'"
      case .tokenEndedElsewhere: "must be invalidated on the Realm's thread"
      }
    }

    func make(_ path: String) throws {
      var configuration = Realm.Configuration(
        fileURL: URL(fileURLWithPath: path), objectTypes: [Cat.self, Home.self],
        durability: .relaxed)
      let scheduler = ManualScheduler()
      let realm = try Realm(configuration: configuration, scheduler: scheduler)
      switch self {
      case .otherPermissions, .readOnlyWrite:
        try makeReadOnly(configuration, scheduler)
      case .noFile:
        configuration.fileURL = nil
        _ = try Realm(configuration: configuration)
      case .contradictoryClasses:
        configuration.objectTypes = [Cat.self]
        _ = try Realm(configuration: configuration)
      case .contradictoryClassesToMigrate:
        configuration.objectTypes = [Cat.self]
        try Realm.performMigration(for: configuration)
      case .tooManyVersions: try pinVersions(configuration)
      default: try makeElsewhere(realm, configuration, scheduler)
      }
      exit(0)
    }

    private func makeReadOnly(
      _ other: Realm.Configuration, _ taken: ManualScheduler
    ) throws {
      var configuration = other
      configuration.readOnly = true
      let scheduler = self == .otherPermissions ? taken : ManualScheduler()
      let realm = try Realm(configuration: configuration, scheduler: scheduler)
      try realm.write {}
    }

    private func pinVersions(_ configuration: Realm.Configuration) throws {
      var limited = configuration
      limited.maximumNumberOfActiveVersions = 1
      let writer = try Realm(configuration: limited, scheduler: ManualScheduler())
      var pins: [Realm] = []
      for _ in 0..<3 {
        let pin = try Realm(configuration: configuration, scheduler: ManualScheduler())
        _ = pin.objects(Cat.self).count
        pins.append(pin)
        try writer.write { writer.add(Home("x")) }
      }
      withExtendedLifetime(pins) {}
    }

    private func makeElsewhere(
      _ realm: Realm, _ configuration: Realm.Configuration, _ scheduler: ManualScheduler
    ) throws {
      let token = realm.observe { _, _ in }
      let mistake = self
      let done = DispatchSemaphore(value: 0)
      Thread.detachNewThread {
        switch mistake {
        case .pumpedElsewhere: _ = scheduler.pump()
        case .notTheMainQueue: _ = try? Realm(configuration: configuration, queue: .main)
        case .notItsQueue:
          _ = try? Realm(configuration: configuration, queue: DispatchQueue(label: "another"))
        default: token.invalidate()
        }
        done.signal()
      }
      done.wait()
    }
  }

  @Test(arguments: Mistake.allCases)
  func traps(mistake: Mistake) async throws {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { [path = folder.file("cats.realm") as String, mistake = mistake as Mistake] in
      try mistake.make(path)
    }
    try expect(mistake.message, in: result)
  }
}
