import Foundation
import TarnStore
import TestSupport
import Testing

@testable import Tarn

private final class Lines: Sendable {
  let all = Lock<[String]>([])
}

struct LoggerTests {
  @Test func messagesAsGraveAsTheLevelArePassedOn() {
    let lines = Lines()
    let before = Logger.shared
    defer { Logger.shared = before }
    let marker = UUID().uuidString
    Logger.shared = Logger(level: .warn) { level, message in
      guard message.hasSuffix(marker) else { return }
      lines.all.withLock { $0.append("\(level) \(message.first!)") }
    }
    StoreLog.shared.write(.error, "a \(marker)")
    StoreLog.shared.write(.info, "b \(marker)")
    Logger.shared.level = .all
    StoreLog.shared.write(.debug, "c \(marker)")
    Logger.shared.level = .off
    StoreLog.shared.write(.error, "d \(marker)")
    #expect(lines.all.withLock { $0 } == ["error a", "debug c"])
  }

  @Test func whatHappensToFilesIsLogged() async throws {
    let result = await #expect(processExitsWith: .exitCode(0), observing: [\.standardErrorContent])
    {
      let shelter = try Shelter(within: "/tmp")
      Logger.shared = Logger(level: .detail)
      var configuration = shelter.configuration
      configuration.objectTypes = [Stray.self]
      func open() throws { _ = try Realm(configuration: configuration) }
      try open()
      configuration.objectTypes = [Cat.self, Home.self, Stray.self]
      try open()
      configuration.schemaVersion = 3
      try open()
      configuration.schemaVersion = 2
      try? open()
      configuration.schemaVersion = 4
      configuration.deleteRealmIfMigrationNeeded = true
      try open()
      try Realm.deleteFiles(for: configuration)
      try FileManager.default.removeItem(atPath: shelter.folder)
      exit(0)
    }
    let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    for part in [
      "Tarn: opened /tmp/tarn-test-", "cats.realm at version 0, schema version 0",
      "1 classes: Stray", "cats.realm by classes, properties or rules", "Tarn: migrated /tmp/",
      "from schema version 0 to 3", "Tarn: refused: open /tmp/",
      "2 is less than last set version 3",
      "which would have needed a migration", "Tarn: deleted /tmp/", "Tarn: closed /tmp/",
    ] {
      #expect(text.contains(part), "\(part) is missing in: \(text)")
    }
  }

  @Test func aRealmsTokenThatIsLetGoOfIsLogged() async throws {
    let folder = TemporaryFolder()
    let result = await #expect(processExitsWith: .exitCode(0), observing: [\.standardErrorContent])
    { [path = folder.path as String] in
      let a = try Instance(catsIn: path)
      var told = 0
      var token: NotificationToken? = a.realm.observe { _, _ in told += 1 }
      try a.add(1)
      precondition(token != nil)
      token = nil
      try a.add(2)
      exit(told == 1 ? 0 : 1)
    }
    let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(text.contains("was released without invalidate(); the observation has ended"))
  }
}
