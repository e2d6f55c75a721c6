import Dispatch
import Foundation
import TestSupport
import Testing

@testable import Tarn

// The samples of the pages on actors and threads that pass objects on. What is changed for the
// Swift 6 language mode is marked.

private class Todo: Object {
  @Persisted(primaryKey: true) var _id: ObjectId
  @Persisted var name: String
  @Persisted var owner: String
  @Persisted var status: String
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

// Create a simple actor
private actor BackgroundActor {
  public func deleteTodo(tsrToTodo tsr: ThreadSafeReference<Todo>) throws {
    let realm = try! Realm()
    try realm.write {
      // Resolve the thread safe reference on the Actor where you want to use it.
      // Then, do something with the object.
      let todoOnActor = realm.resolve(tsr)
      realm.delete(todoOnActor!)
    }
  }
}

// Execute some code on a different actor - in this case, the MainActor
@MainActor
private func mainThreadFunction() async throws {
  let backgroundActor = BackgroundActor()
  let realm = try! await Realm()
  try await realm.asyncWrite {
    realm.create(
      Todo.self,
      value: [
        "_id": ObjectId.generate(),
        "name": "Arrive safely in Bree",
        "owner": "Merry",
        "status": "In Progress",
      ])
  }
  // Get the collection of todos on the current actor
  let todoCollection = realm.objects(Todo.self)
  precondition(todoCollection.count == 1)
  // We can pass a thread-safe reference to an object to update it on a different actor.
  let todo = todoCollection.where {
    $0.name == "Arrive safely in Bree"
  }.first!
  let threadSafeReferenceToTodo = ThreadSafeReference(to: todo)
  try await backgroundActor.deleteTodo(tsrToTodo: threadSafeReferenceToTodo)
  realm.refresh()
  precondition(todo.isInvalidated && todoCollection.isEmpty)
  precondition(threadSafeReferenceToTodo.isInvalidated)
}

private func delete(_ results: Results<Todo>, at index: Int, _ done: DispatchSemaphore) throws {
  @ThreadSafe var object = results[index]
  // In Swift 5: `async {`, and `object` instead of `$object.wrappedValue`.
  DispatchQueue.global().async { [$object] in
    defer { done.signal() }
    guard let object = $object.wrappedValue else { return }
    let realm = object.realm!
    try! realm.write {
      if !object.isInvalidated {
        realm.delete(object)
      }
    }
  }
}

struct PassingSampleTests {
  @Test func theyRun() async throws {
    let folder = TemporaryFolder()
    let said = KeptErrors(in: folder.path)
    let result = await #expect(processExitsWith: .success) {
      [path = folder.file("todo.realm") as String, said = said as KeptErrors] in
      said.keep()
      Realm.Configuration.defaultConfiguration = Realm.Configuration(
        fileURL: URL(fileURLWithPath: path), objectTypes: [Todo.self])
      try await mainThreadFunction()
      try PassingSampleTests.deleteOnAnotherThread()
    }
    said.tell(result)
  }

  private static func deleteOnAnotherThread() throws {
    let realm = try Realm()
    try realm.write {
      for name in ["a", "b"] {
        realm.create(Todo.self, value: ["_id": ObjectId.generate(), "name": name])
      }
    }
    let todos = realm.objects(Todo.self).sorted(byKeyPath: "name")
    let done = DispatchSemaphore(value: 0)
    try delete(todos, at: 0, done)
    done.wait()
    realm.refresh()
    precondition(todos.map(\.name) == ["b"])
  }
}
