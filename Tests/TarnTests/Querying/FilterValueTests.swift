import Foundation
import TestSupport
import Testing

@testable import Tarn

/// Filters that are checked before they are applied.
struct FilterValueTests {
  private let instance: Instance

  init() throws {
    instance = try Shelter().open()
    try instance.write {
      let home = Home("High Street")
      instance.realm.add((0..<4).map { Cat($0, "cat \($0)", age: 10 * $0) })
      instance.cat(2)!.home = home
    }
  }

  @Test func oneFilterServesManyCollections() throws {
    let old = try Filter<Cat>("age > %@ AND name CONTAINS[c] %@", 5, "CAT")
    #expect(instance.cats.filter(old).map(\.id) == [1, 2, 3])
    #expect(instance.cats.where { $0.id < 3 }.filter(old).map(\.id) == [1, 2])
    let housed = try Filter<Cat>("home.street BEGINSWITH 'High'")
    #expect(instance.cats.filter(housed).filter(old).map(\.id) == [2])
    let same = try Filter<Cat>("home == %@", instance.cat(2)!.home)
    #expect(instance.cats.filter(same).map(\.id) == [2])
  }

  @Test(arguments: [
    ("age >", "expected"), ("agee > 3", "agee"), ("age > 'x'", "age"),
    ("home.streat == ''", "streat"),
  ])
  func mistakesAreThrownAtOnce(_ text: String, _ word: String) {
    let error = #expect(throws: Realm.Error.self) { try Filter<Cat>(text) }
    #expect(error?.code == .invalidInput)
    #expect(error?.message.contains(word) == true, "\(error?.message ?? "")")
  }

  @Test func argumentsAreChecked() {
    #expect(throws: Realm.Error.invalidInput) { try Filter<Cat>("age > %@") }
    #expect(throws: Realm.Error.invalidInput) { try Filter<Cat>("age > 3", 4) }
  }
}
