/** example is the lesson with which the builder begins. A test takes it. */
export const example = `id: mine
title: My first lesson
about: One sentence for whoever looks at the list.
setup:
- create configmap lamp --from-literal color=red --as alice
steps:
- say: paint
  text: |
    Alice's lamp is red, at revision {{cm/lamp.rv}}. Paint it blue:

    \`patch configmap lamp -p '{"data":{"color":"blue"}}'\`
  needs:
  - configmaps/lamp exists
  predict:
    ask: What does the server answer?
    options:
    - say: "200, and the whole object"
      if: status 200
    - say: "204, and nothing"
      if: status 204
      why: A patch is answered with the object as it is now.
  check:
  - configmaps/lamp .data.color == blue
  hint:
  - patch changes a part of an object; -p says what.
  - patch configmap lamp -p '{"data":{"color":"blue"}}'
  solution:
  - patch configmap lamp -p '{"data":{"color":"blue"}}'
- say: end
  text: |
    The lamp is at revision {{cm/lamp.rv}} now. That was it.
`
