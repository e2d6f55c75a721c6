import Foundation
import TarnStore
import TestSupport
import Testing

@testable import Tarn
@testable import TarnStore

/// Stores in memory: of this process alone, and gone with it, however it ends.
///
/// One after the other: no test looks for what another one's killed process leaves.
@Suite(.serialized) struct MemoryStoreTests {
  private static func configuration(_ name: String) -> Realm.Configuration {
    Realm.Configuration(inMemoryIdentifier: name, objectTypes: [Cat.self, Home.self])
  }

  /// Whatever a file system shows of stores in memory.
  private var passingNames: Set<String> {
    let folders = ["/dev/shm", NamelessFiles.temporaryFolder]
    let names = folders.flatMap {
      (try? FileManager.default.contentsOfDirectory(atPath: $0)) ?? []
    }
    return Set(names.filter { $0.hasPrefix("tarn-opening-") })
  }

  /// Whether all that is there now goes. Other tests and their processes open stores as well, and
  /// show passing names for a moment: it is looked at until those are gone, which no event tells.
  /// It does not give its thread to other tests, which could keep it until the limit has passed.
  private func nothingIsLeft() -> Bool {
    let names = passingNames
    let limit = ContinuousClock.now + .seconds(300)
    while !names.isDisjoint(with: passingNames) {
      if ContinuousClock.now > limit { return false }
      sched_yield()
    }
    return true
  }

  @Test func theThreadsOfAProcessShareAStoreByItsName() throws {
    let configuration = Self.configuration("shared \(UUID())")
    let realm = try Realm(configuration: configuration, scheduler: ManualScheduler())
    try realm.write { realm.add(Cat(1, "Tom")) }
    let done = DispatchSemaphore(value: 0)
    Thread.detachNewThread {
      let other = try! Realm(configuration: configuration)
      try! other.write { other.objects(Cat.self).first!.age = 7 }
      done.signal()
    }
    done.wait()
    #expect(realm.refresh())
    #expect(realm.objects(Cat.self).map(\.age) == [7])
    #expect(Realm.fileExists(for: configuration))
    #expect(throws: Realm.Error.alreadyOpen) { try Realm.deleteFiles(for: configuration) }
  }

  @Test func noPathLeadsToAStoreInMemory() throws {
    let realm = try Realm(
      configuration: Self.configuration("nameless \(UUID())"), scheduler: ManualScheduler())
    #expect(realm.core.store.environment.kind == .inMemory)
    for name in try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd") {
      guard let number = Int32(name), let facts = FileFacts.of(descriptor: number) else { continue }
      let environment = realm.core.store.environment
      if facts.identity == environment.dataIdentity || facts.identity == environment.lockIdentity {
        #expect(facts.linkCount == 0)
        #expect(fcntl(number, F_GETFD) & FD_CLOEXEC != 0)
      }
    }
    #expect(nothingIsLeft())
  }

  @Test func aReaderOfNothingIsRefused() throws {
    var configuration = Self.configuration("nobody's \(UUID())")
    configuration.readOnly = true
    let error = #expect(throws: Realm.Error.self) {
      try Realm(configuration: configuration, scheduler: ManualScheduler())
    }
    #expect(error?.message.contains("memory:nobody's") == true)
    #expect(error?.fileURL == nil)
  }

  @Test(arguments: [SIGKILL, SIGTERM, 0])
  func howeverAProcessEndsTheNextOneFindsNothing(signal: Int32) async throws {
    let name = "fleeting \(UUID())"
    let folder = TemporaryFolder()
    for _ in 0..<2 {
      let said = KeptErrors(in: folder.path)
      let result = await #expect(processExitsWith: signal == 0 ? .exitCode(0) : .signal(signal)) {
        [name = name as String, signal = signal as Int32, said = said as KeptErrors] in
        said.keep()
        let realm = try Realm(configuration: Self.configuration(name))
        guard realm.isEmpty else { exit(1) }
        try realm.write { realm.add(Cat(1)) }
        // A global that nobody lets go of.
        _ = Unmanaged.passRetained(realm.core)
        if signal == 0 { exit(0) }
        kill(getpid(), signal)
      }
      said.tell(result)
    }
    #expect(nothingIsLeft())
  }

  @Test(arguments: ["names.folder", "names.made"])
  func whatAKilledOpenerLeavesIsTakenAwayByTheNext(fault: String) async throws {
    let folder = TemporaryFolder()
    let said = KeptErrors(in: folder.path)
    let result = await #expect(processExitsWith: .signal(SIGKILL)) {
      [fault = fault as String, said = said as KeptErrors] in
      said.keep()
      setenv("TARN_FAULT", fault, 1)
      FaultPoint.armFromEnvironment()
      _ = try Realm(configuration: Self.configuration("killed"))
    }
    said.tell(result)
    _ = try Realm(
      configuration: Self.configuration("next \(UUID())"), scheduler: ManualScheduler())
    #expect(nothingIsLeft())
  }

  @Test func manyProcessesWithOneNameDoNotMeet() async throws {
    let name = "crowd \(UUID())"
    let folder = TemporaryFolder()
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<4 {
        group.addTask {
          let said = KeptErrors(in: folder.path)
          let result = await #expect(processExitsWith: .exitCode(0)) {
            [name = name as String, said = said as KeptErrors] in
            said.keep()
            for round in 0..<25 {
              let realm = try Realm(
                configuration: Self.configuration(name), scheduler: ManualScheduler())
              guard realm.isEmpty else { exit(1) }
              try realm.write { realm.add(Cat(round)) }
            }
            exit(0)
          }
          said.tell(result)
        }
      }
    }
  }
}
