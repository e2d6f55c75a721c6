import Foundation
import Tarn
import TestSupport
import Testing
import ToolSupport

@testable import TarnDaemon
@testable import TarnSync

/// Each kind of model goes from one file to another through a server, by each way that there is.
@MainActor @Suite(.timeLimit(.minutes(30)), .fewAtOnce) struct SyncedKindTests {
  enum Way: CaseIterable { case realm, command, daemon }

  private static let program = OwnProgram.sibling("tarn-sync")
  private let folder = TemporaryFolder()
  private let owner: String
  private let server: ServerConnection

  init() throws {
    let program = try PostgresServer.shared.get()
    let name = "kinds_" + UUID().uuidString.lowercased().replacing("-", with: "")
    try ServerConnection(ServerAddress(program.address("postgres")))
      .run("CREATE DATABASE \(name)", for: "test")
    owner = program.address(name)
    server = try ServerConnection(ServerAddress(owner))
    _ = try ServerSetup.run(server)
  }

  private func open(_ name: String, _ kind: SyncedKind) throws -> Realm {
    try Realm(
      configuration: Realm.Configuration(
        fileURL: URL(filePath: folder.file(name)), objectTypes: kind.types))
  }

  private func run(_ words: [String]) throws {
    let errors = folder.file("errors")
    let end = try ChildProcess(Self.program, words, errors: errors).finish().end
    let said = try String(contentsOfFile: errors, encoding: .utf8)
    #expect(end == .exited(0), "\(said)")
  }

  private func rows(_ kind: SyncedKind) throws -> Int {
    let rows = try server.query("SELECT count(*) FROM \"\(kind.table)\"", for: "test")
    return Int(rows[0][0] ?? "") ?? -1
  }

  @Test(arguments: SyncedKind.allCases, Way.allCases)
  func `each kind of model is exchanged`(_ kind: SyncedKind, _ way: Way) async throws {
    let a = try open("a.tarn", kind)
    try run(["server", "migrate", owner, folder.file("a.tarn")])
    switch way {
    case .realm: try await exchangeRealms(kind)
    case .command: try exchangeByCommand(kind, a)
    case .daemon: try await exchangeByDaemon(kind, a)
    }
    #expect(try rows(kind) == 2)
  }

  private func exchangeRealms(_ kind: SyncedKind) async throws {
    var configuration = AppConfiguration(baseURL: owner)
    configuration.anonymousRole = PostgresServer.administrator
    let app = App(
      id: "kinds", configuration: configuration, folder: URL(filePath: folder.file("data")))
    let user = try await app.login(credentials: .anonymous)
    func synced(_ name: String) -> Realm.Configuration {
      var configuration = user.flexibleSyncConfiguration(
        initialSubscriptions: { kind.subscribe($0) })
      configuration.fileURL = URL(filePath: folder.file(name))
      configuration.objectTypes = kind.types
      return configuration
    }
    let one = try await Realm(configuration: synced("one"), downloadBeforeOpen: .always)
    try kind.fill(one)
    try await one.syncSession?.wait(for: .upload)
    let two = try await Realm(configuration: synced("two"), downloadBeforeOpen: .always)
    #expect(kind.objects(two) == kind.objects(one))
    #expect(kind == .asymmetric || kind.objects(two).count > 1)
  }

  private func exchangeByCommand(_ kind: SyncedKind, _ a: Realm) throws {
    try kind.fill(a)
    try run(["sync", folder.file("a.tarn"), "--to", owner])
    // It makes the file, and all its classes.
    try run(["sync", folder.file("b.tarn"), "--to", owner])
    // Beside one that is there.
    try run(["sync", folder.file("b.tarn"), "--to", owner])
    #expect(try kind.objects(open("b.tarn", kind)) == kind.objects(a))
  }

  private func exchangeByDaemon(_ kind: SyncedKind, _ a: Realm) async throws {
    try kind.fill(a)
    let b = try open("b.tarn", kind)
    let daemon = try DaemonProcess(
      folder,
      """
      sync:
        - file: $/*.tarn
          server: '\(owner)'

      """)
    try await yieldUntil { try rows(kind) == 2 }
    try await yieldUntil {
      b.refresh()
      return kind.objects(b) == kind.objects(a)
    }
    #expect(daemon.stop() == .exited(0))
  }
}
