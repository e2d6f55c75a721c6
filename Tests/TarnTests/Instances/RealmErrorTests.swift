import Foundation
import TarnStore
import Testing

@testable import Tarn

struct RealmErrorTests {
  private func error(_ configuration: Realm.Configuration) -> Realm.Error? {
    #expect(throws: Realm.Error.self) { _ = try Realm(configuration: configuration) }
  }

  @Test func aReadOnlyRealmNeedsItsFile() throws {
    let shelter = try Shelter()
    var configuration = shelter.configuration
    configuration.readOnly = true
    let missing = error(configuration)
    #expect(missing?.code == .fileNotFound)
    #expect(missing?.fileURL?.path == configuration.fileURL?.path)
    #expect(!Realm.fileExists(for: configuration))
    do {
      _ = try Realm(configuration: configuration)
      Issue.record("opened")
    } catch Realm.Error.fileNotFound {
    } catch {
      Issue.record(error)
    }
  }

  @Test func errorsBridge() throws {
    let shelter = try Shelter()
    var configuration = shelter.configuration
    configuration.readOnly = true
    do {
      _ = try Realm(configuration: configuration)
    } catch let error as NSError {
      #expect(error.code == 5)
      #expect(error.domain == "io.realm")
      #expect(error.localizedDescription.contains("cats.realm"))
    }
  }

  @Test func whatIsNoStoreIsRefusedAndLeftAlone() throws {
    let shelter = try Shelter()
    let configuration = shelter.configuration
    let text = Data(String(repeating: "no store\n", count: 2_000).utf8)
    try text.write(to: configuration.fileURL!)
    #expect(error(configuration)?.code == .invalidDatabase)
    #expect(try Data(contentsOf: configuration.fileURL!) == text)
  }

  @Test func aPathThroughAFileIsRefused() throws {
    let shelter = try Shelter()
    try Data().write(to: URL(fileURLWithPath: shelter.folder + "/plain"))
    var configuration = shelter.configuration
    configuration.fileURL = URL(fileURLWithPath: shelter.folder + "/plain/cats.realm")
    #expect(error(configuration)?.code == .fileOperationFailed)
  }

  @Test func everyDifferenceOfASchemaIsNamed() throws {
    let shelter = try Shelter()
    try { _ = try shelter.open(cats: 1) }()
    enum Later {
      class Cat: Object {
        @Persisted(primaryKey: true) var id: String
        @Persisted var name: Int
      }
    }
    var configuration = shelter.configuration
    configuration.objectTypes = [Later.Cat.self]
    let mismatch = error(configuration)
    #expect(mismatch?.code == .schemaMismatch)
    #expect(mismatch?.description.contains("id") == true)
    #expect(mismatch?.description.contains("name") == true)
    #expect(try shelter.open().cats.count == 1)
  }

  /// Every code of the engine, and the public code that programs see.
  static let codes: [(StorageError.Code, Realm.Error.Code)] = [
    (.notAStore, .invalidDatabase),
    (.corrupted, .invalidDatabase),
    (.newerFormat, .unsupportedFileFormatVersion),
    (.permissionDenied, .filePermissionDenied),
    (.notFound, .fileNotFound),
    (.diskFull, .outOfDiskSpace),
    (.addressSpace, .addressSpaceExhausted),
    (.readersFull, .fail),
    (.replaced, .incompatibleLockFile),
    (.identity, .incompatibleLockFile),
    (.forked, .fail),
    (.inputOutput, .fileOperationFailed),
    (.outcomeUnknown, .outcomeUnknown),
    (.failed, .fail),
    (.conflict, .fail),
    (.schemaMismatch, .schemaMismatch),
    (.invalidInput, .invalidInput),
    (.alreadyOpen, .alreadyOpen),
    (.limitExceeded, .invalidInput),
    (.busy, .busy),
    (.notUnique, .notUnique),
    (.olderProgram, .schemaMismatch),
    (.noSubscription, .noSubscriptionForWrite),
    (.fileExists, .fileExists),
    // Only the engine sees it: another file took the place of the one that was being opened.
    (StorageError.Code(rawValue: 25), .fail),
    (.committed, .committed),
  ]

  @Test(arguments: codes)
  func anErrorOfTheEngineHasAPublicCode(_ inner: StorageError.Code, _ code: Realm.Error.Code) {
    let inside = StorageError(inner, operation: "commit", path: "/tmp/a.realm", detail: "It broke.")
    let error = Realm.Error(inside)
    #expect(error.code == code)
    #expect(error.message.contains("It broke."))
    #expect(error.fileURL?.path == "/tmp/a.realm")
    #expect(error.errorCode == code.rawValue)
    #expect(Realm.Error.errorDomain == "io.realm")
    #expect(error.errorUserInfo["Error Name"] as? String == "\(code)")
    #expect(error.errorUserInfo[NSLocalizedDescriptionKey] as? String == error.description)
  }

  /// The engine numbers its codes from 1 without a gap, so that one that is new is missed here.
  @Test func theTableOfCodesIsComplete() {
    #expect(Self.codes.map(\.0.rawValue) == Array(1...26))
  }

  @Test func codesHaveTheirKnownNumbers() {
    #expect(Realm.Error.Code.fail.rawValue == 1)
    #expect(Realm.Error.Code.schemaMismatch.rawValue == 10)
    #expect(Realm.Error.Code.alreadyOpen.rawValue == 12)
    #expect(Realm.Error.Code.invalidDatabase.rawValue == 20)
    #expect(Realm.Error(.fail, message: "a") == Realm.Error.fail)
  }

  @Test func filesAreDeletedOnlyWhenNobodyHasThemOpen() throws {
    let shelter = try Shelter()
    let configuration = shelter.configuration
    do {
      let a = try shelter.open(cats: 1)
      #expect(Realm.fileExists(for: configuration))
      #expect(throws: Realm.Error.alreadyOpen) { try Realm.deleteFiles(for: configuration) }
      #expect(a.cats.count == 1)
    }
    #expect(try Realm.deleteFiles(for: configuration))
    #expect(try !Realm.deleteFiles(for: configuration))
    #expect(try FileManager.default.contentsOfDirectory(atPath: shelter.folder) == [])
    #expect(try shelter.open().realm.isEmpty)
  }

  @Test func theDefaultConfigurationHasAFile() {
    #expect(Realm.Configuration.defaultConfiguration.fileURL?.lastPathComponent == "default.realm")
    #expect("\(Realm.Configuration.defaultConfiguration)".contains("default.realm"))
  }
}
