import Foundation
import Tarn
import TarnRealmFiles
import TestSupport
import Testing

@testable import TarnSync

/// The sentences of errors, as Foundation asks for them. A check of the tree finds error types that
/// Foundation has no sentence of.
@Suite struct ErrorTextTests {
  enum Kind: CaseIterable {
    case realm, invalidValue, undo, objectId, decimal, realmFile, app, sync, openedFile
  }

  private let folder = TemporaryFolder()

  /// Fails in the way of that kind.
  private func fail(_ kind: Kind) throws {
    let path = folder.file("one")
    let configuration = Realm.Configuration(
      fileURL: URL(filePath: path), objectTypes: [Todo.self, Remark.self])
    switch kind {
    case .realm:
      _ = try Realm(
        configuration: Realm.Configuration(
          fileURL: URL(filePath: path), readOnly: true, objectTypes: [Todo.self]))
    case .invalidValue:
      let realm = try Realm(configuration: configuration)
      try realm.write { _ = try realm.create(Todo.self, checking: ["_id": 1]) }
    case .undo:
      let realm = try Realm(configuration: configuration)
      try realm.setRetention(Retention(versions: 100, keepsOldValues: true))
      for text in ["a", "b"] {
        try realm.write {
          realm.create(Remark.self, value: ["_id": 1, "text": text], update: .modified)
        }
      }
      let versions = try realm.versions.map(\.version)
      try realm.undo(versions[versions.count - 2])
    case .objectId: _ = try ObjectId(string: "x")
    case .decimal: _ = try Decimal128(string: "x")
    case .realmFile:
      try Data("no Realm file".utf8).write(to: URL(filePath: path))
      try importRealmFile(at: URL(filePath: path), into: URL(filePath: folder.file("two")))
    case .app: throw AppError(.invalidCredentials, "the role is unknown")
    case .sync: throw SyncError(.clientSessionError, ServerError("exchange", "it is away"))
    case .openedFile:
      // Errors of the engine below leave calls as public ones.
      let realm = try Realm(configuration: configuration)
      try realm.writeCopy(toFile: URL(filePath: path))
    }
  }

  @Test(arguments: Kind.allCases)
  func `the localized description is the error's sentence`(_ kind: Kind) throws {
    let error = #expect(throws: (any Error).self) { try fail(kind) }
    let caught = try #require(error)
    #expect(caught.localizedDescription == "\(caught)")
    #expect((caught as NSError).localizedDescription == "\(caught)")
    #expect("\(caught)".contains(" "))
  }
}
