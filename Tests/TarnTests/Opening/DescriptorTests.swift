import Foundation
import TestSupport
import Testing

@testable import Tarn

/// Programs that have no file descriptor left.
struct DescriptorTests {
  private struct Unexpected: Error { let text: String }

  /// Lets the process have that many more descriptors than it has.
  private static func allow(_ more: Int32) {
    let next = open("/dev/null", O_RDONLY)
    close(next)
    setLimit(rlim_t(next + more))
  }

  private static func setLimit(_ soft: rlim_t) {
    var limit = rlimit()
    getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    limit.rlim_cur = min(soft, limit.rlim_max)
    setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
  }

  /// Opens one more file with so many descriptors to spare; nil if that works, else the error.
  private static func error(with spare: Int32, _ opening: () throws -> Realm) -> (any Error)? {
    allow(spare)
    defer { setLimit(1024) }
    do {
      _ = try opening()
      return nil
    } catch { return error }
  }

  /// Gives what is wrong with the error, or nothing.
  private static func check(_ name: String, _ opening: (Int32) throws -> Realm) throws {
    var failures = 0
    for spare in 0..<Int32(64) {
      guard let error = error(with: spare, { try opening(spare) }) else {
        guard failures > 0 else { throw Unexpected(text: "\(name): nothing failed") }
        return
      }
      failures += 1
      guard "\(error)".contains("no file descriptor left: raise its limit (ulimit -n), which is ")
      else {
        throw Unexpected(text: "\(name) with \(spare): \(error)")
      }
    }
    throw Unexpected(text: "\(name): never succeeded")
  }

  private let shelter = Result { try Shelter() }

  /// Wherever on the way the last descriptor is taken, and what is open goes on.
  @Test func openingSaysWhatIsMissing() async throws {
    let result = await #expect(
      processExitsWith: .success, observing: [\.standardErrorContent]
    ) { [folder = try shelter.get().folder as String] in
      let shelter = try Shelter(within: folder)
      let instance = try shelter.open(cats: 3)
      func configuration(_ name: String) -> Realm.Configuration {
        var configuration = shelter.configuration
        configuration.fileURL = URL(fileURLWithPath: "\(shelter.folder)/\(name).realm")
        return configuration
      }
      try Self.check("new") {
        try Realm(configuration: configuration("new \($0)"), scheduler: instance.scheduler)
      }
      let names = (0..<64).map { "there \($0)" }
      for name in names {
        _ = try Realm(configuration: configuration(name), scheduler: instance.scheduler)
      }
      try Self.check("there") {
        try Realm(configuration: configuration("there \($0)"), scheduler: instance.scheduler)
      }
      try Self.check("read-only") { spare in
        var reading = configuration("there \(spare)")
        reading.readOnly = true
        return try Realm(configuration: reading, scheduler: instance.scheduler)
      }
      try Self.check("memory") { spare in
        var memory = shelter.configuration
        memory.fileURL = nil
        memory.inMemoryIdentifier = "memory \(spare)"
        return try Realm(configuration: memory, scheduler: instance.scheduler)
      }
      Self.allow(0)
      try instance.add(7)
      guard instance.cats.count == 4 else { throw Unexpected(text: "a lost write") }
      guard !ManualScheduler().wait(timeout: 0.02) else { throw Unexpected(text: "work") }
      Self.setLimit(1024)
      _ = try Realm(configuration: configuration("after"), scheduler: instance.scheduler)
    }
    let said = result.map { String(decoding: $0.standardErrorContent, as: UTF8.self) } ?? ""
    #expect(!said.contains("rror"), "\(said)")
  }
}
